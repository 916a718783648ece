import { bind, Migrator } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { RUN } from '../../test/fake-app.ts';

test('signal sends kind, payload and dedupe key', async () => {
  const line = await commandLine([
    'signal',
    RUN,
    'user-message',
    '{"message":"Faster."}',
    '--dedupe-key',
    'k',
  ]);
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with).toEqual([
    RUN,
    { kind: 'user-message', payload: { message: 'Faster.' }, dedupeKey: 'k' },
  ]);
  expect(line.doors()).toEqual(['signal', 'resume']);
});

test('signal shows how the run goes on', async () => {
  const line = await commandLine(['signal', RUN, 'user-message', '--text', 'Faster.'], {
    app: { turns: [{ result: { kind: 'completed', text: 'Done.' } }] },
  });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with[1]).toEqual({ kind: 'user-message', payload: { text: 'Faster.' } });
  expect(line.stdout()).toBe('Done.\n');
});

test('Ctrl-C leaves a signalled run to its owner', async () => {
  const line = await commandLine(['signal', RUN, 'pause'], {
    app: { turns: [{ hangs: true }] },
  });
  await line.until('Sent: pause.');
  while (!line.doors().includes('resume')) await new Promise(setImmediate);
  line.raise('SIGINT');
  expect(await line.done).toBe(130);
  expect(line.doors()).not.toContain('cancel');
});

test('signal takes a payload or a text', async () => {
  const line = await commandLine(['signal', RUN, 'user-message', '{}', '--text', 'Faster.']);
  expect(await line.done).toBe(2);
});

test('signal refuses a payload that is not JSON', async () => {
  const line = await commandLine(['signal', RUN, 'user-message', 'Faster.']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('<payload> is not JSON: "Faster."');
});

test('signal lists the kinds it knows', async () => {
  const line = await commandLine(['signal', RUN, 'shout']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('Allowed choices are user-message, steering-instruction');
});

const migrator = (left: readonly string[]): Migrator => ({
  name: 'kysely',
  pending: async () => left,
  migrate: async () => left,
});

test('migrate applies what is pending and names it', async () => {
  const line = await commandLine(['migrate'], {
    app: { bindings: [bind(Migrator, migrator(['0001-runs'])), bind(Migrator, migrator([]))] },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('kysely: 0001-runs applied\nkysely: up to date\n');
  expect(line.configs[0]?.start).toBe(false);
});

test('migrate --dry-run only says it', async () => {
  const line = await commandLine(['migrate', '--dry-run', '--json'], {
    app: { bindings: [bind(Migrator, migrator(['0001-runs']))] },
  });
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([
    { type: 'migrated', migrator: 'kysely', dryRun: true, migrations: ['0001-runs'] },
  ]);
});

test('migrate without a migrator says that there is nothing to do', async () => {
  const line = await commandLine(['migrate']);
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('Nothing to migrate');
});
