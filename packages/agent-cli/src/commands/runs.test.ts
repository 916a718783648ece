import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { RUN, runState } from '../../test/fake-app.ts';

const ended = runState({ status: 'completed', transition: 'completed', runId: 'r2' as typeof RUN });

test('lists runs, and says that there are more', async () => {
  const line = await commandLine(
    ['runs', 'list', '--agent', 'assistant', '--status', 'active', '--conversation', 'c1'],
    { app: { runs: [runState(), ended] } },
  );
  expect(await line.done).toBe(0);
  expect(line.stdout().split('\n')[0]).toBe(
    'r1\tassistant\tinterrupted\tapproval-required\t1970-01-01T00:01:00Z\tc1',
  );
  expect(line.stderr()).toBe('There is more: --after cursor-2\n');
  expect(line.asked[0]?.with[0]).toEqual({
    limit: 50,
    agent: 'assistant',
    status: 'active',
    conversationId: 'c1',
  });
});

test('lists runs as records', async () => {
  const line = await commandLine(['runs', 'list', '--json'], {
    app: { runs: [runState(), ended] },
  });
  expect(await line.done).toBe(0);
  expect(line.records().map(({ type }) => type)).toEqual(['run', 'run', 'page']);
});

test('says to a person that there are none', async () => {
  const line = await commandLine(['runs', 'list'], { terminal: true, env: { NO_COLOR: '1' } });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('No runs.\n');
});

test('an unknown status is a usage error that lists the known ones', async () => {
  const line = await commandLine(['runs', 'list', '--status', 'asleep']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('Allowed choices are created, active');
});

test('shows a run that has ended without asking for its waits', async () => {
  const line = await commandLine(['runs', 'show', 'r2', '--json'], { app: { runs: [ended] } });
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([{ type: 'run', ...ended, waits: [] }]);
  expect(line.doors()).toEqual([]);
});

test.each([
  ['show', 'r9'],
  ['resume', 'r9'],
])('%s of an unknown run says so', async (command, run) => {
  const line = await commandLine(['runs', command, run]);
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('RUN_NOT_FOUND: There is no run "r9" for this caller.');
});

test('resume follows the run to its end', async () => {
  const line = await commandLine(['runs', 'resume', RUN, '--after', '7'], {
    app: { turns: [{ result: { kind: 'completed', text: 'Done.' } }] },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe('Done.\n');
});

test('cancel waits for the end and is done when the run is cancelled', async () => {
  const line = await commandLine(['runs', 'cancel', RUN, '--reason', 'Wrong file.'], {
    app: { turns: [{ result: { kind: 'cancelled', reason: 'Wrong file.' } }] },
  });
  expect(await line.done).toBe(0);
  expect(line.asked[0]).toEqual({ door: 'cancel', with: [RUN, 'Wrong file.'] });
});

test('cancel of a run that completed first gives that away in its exit code', async () => {
  const error = { code: 'TOOL_FAILED', message: 'x', mend: 'y' };
  const line = await commandLine(['runs', 'cancel', RUN], {
    app: { turns: [{ result: { kind: 'failed', error } }] },
  });
  expect(await line.done).toBe(4);
});

test('shows a run to a person as a table of its fields', async () => {
  const line = await commandLine(['runs', 'show', RUN], {
    app: { runs: [runState()] },
    terminal: true,
    env: { NO_COLOR: '1' },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toMatch(/^status {8}interrupted$/m);
});

test('Ctrl-C while a run is being resumed cancels it', async () => {
  const line = await commandLine(['runs', 'resume', RUN], { app: { turns: [{ hangs: true }] } });
  while (!line.doors().includes('resume')) await new Promise(setImmediate);
  line.raise('SIGINT');
  expect(await line.done).toBe(5);
  expect(line.doors()).toEqual(['resume', 'cancel']);
});

test('Ctrl-C while a cancel is waited for leaves', async () => {
  const line = await commandLine(['runs', 'cancel', RUN], {
    app: { turns: [{ hangs: true }], ignoresCancel: true },
  });
  while (!line.doors().includes('resume')) await new Promise(setImmediate);
  line.raise('SIGINT');
  expect(await line.done).toBe(130);
});
