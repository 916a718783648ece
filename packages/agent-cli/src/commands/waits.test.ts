import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine, configFolder } from '../../test/command-line.ts';
import { approval, RUN, runState } from '../../test/fake-app.ts';

const wait = approval();
const closed: AgentEvent = { type: 'wait-closed', wait: { ...wait, status: 'used' } };
const goesOn: readonly AgentEvent[] = [
  { type: 'message-delta', messageId: 'm0', delta: 'Said before.' },
  { type: 'wait-opened', wait },
  closed,
  { type: 'message-delta', messageId: 'm1', delta: 'Written.' },
];

test('lists what waits: tabs for a program', async () => {
  const line = await commandLine(['waits', 'list'], { app: { waits: [wait] } });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toBe(
    'r1.1.0.w1\tapproval\tpending\t1970-01-01T00:00:00Z\t-\tworkspace.write {"path":"notes.md","content":"two\\n"}\n',
  );
  expect(line.asked[0]?.with[0]).toEqual({ limit: 50, status: 'pending' });
  expect(line.configs[0]?.start).toBe(false);
});

test('lists what waits: a table that fits for a person', async () => {
  const line = await commandLine(['waits', 'list'], {
    app: { waits: [wait] },
    terminal: true,
    columns: 72,
    env: { NO_COLOR: '1' },
  });
  expect(await line.done).toBe(0);
  const rows = line.stdout().trimEnd().split('\n');
  expect(rows[0]).toMatch(/^WAIT {2,}KIND {2,}STATUS {2,}OPENED {2,}EXPIRES {2,}ABOUT$/);
  expect(rows[1]).toMatch(/^r1\.1\.0\.w1 {2}approval {2}pending .*…$/);
  expect(rows.every((row) => row.length <= 72)).toBe(true);
});

test('asks with the filters that were given', async () => {
  const line = await commandLine([
    'waits',
    'list',
    '--run',
    'r1',
    '--kind',
    'approval',
    '--status',
    'any',
    '--limit',
    '5',
    '--after',
    'c',
  ]);
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with[0]).toEqual({ limit: 5, after: 'c', runId: 'r1', kind: 'approval' });
});

test('lists the waits of one agent, and when they expire', async () => {
  const expiring = approval({ expiresAt: 60_000, onExpiry: 'pause' });
  const app = { waits: [expiring] };
  const line = await commandLine(['waits', 'list', '--agent', 'assistant'], { app });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with[0]).toEqual({ limit: 50, agent: 'assistant', status: 'pending' });
  expect(line.stdout()).toContain('\t1970-01-01T00:01:00Z\t');
  const shown = await commandLine(['waits', 'show', expiring.id], { app });
  expect(await shown.done).toBe(0);
  expect(shown.stdout()).toContain('expires 1970-01-01T00:01:00Z, then it is asked again\n');
  const denied = approval({ expiresAt: 60_000 });
  const other = await commandLine(['waits', 'show', denied.id], { app: { waits: [denied] } });
  expect(await other.done).toBe(0);
  expect(other.stdout()).toContain('then the call is not run\n');
});

test('--limit takes whole numbers only', async () => {
  const line = await commandLine(['waits', 'list', '--limit', 'many']);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain('--limit must be a whole number from 1, not "many"');
});

test('shows the exact arguments and what would change in the file', async () => {
  const cwd = await configFolder();
  await writeFile(join(cwd, 'notes.md'), 'one\n');
  const line = await commandLine(['waits', 'show', wait.id], { app: { waits: [wait] }, cwd });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('"path": "notes.md"');
  expect(line.stdout()).toContain('-one');
  expect(line.stdout()).toContain('+two');
  expect(line.stdout()).toContain('allowed: approve, reject, modify, defer, cancel');
});

test('a wait that was answered shows the answer, and no answers to choose from', async () => {
  const used = approval({ status: 'used', decision: 'approve', resolvedBy: 'ada' });
  const line = await commandLine(['waits', 'show', used.id], { app: { waits: [used] } });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('  answered: approve by ada\n');
  expect(line.stdout()).not.toContain('allowed:');
  const late = approval({ status: 'expired', decision: 'reject' });
  const other = await commandLine(['waits', 'show', late.id], { app: { waits: [late] } });
  expect(await other.done).toBe(0);
  expect(other.stdout()).toContain('  answered: reject\n');
});

test('shows a wait as one record', async () => {
  const line = await commandLine(['waits', 'show', wait.id, '--json'], { app: { waits: [wait] } });
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([{ type: 'wait', ...wait }]);
});

test.each(['r9.1.0.w1', 'no wait at all', ''])(
  'the foreign or malformed id "%s" is not found',
  async (id) => {
    for (const command of ['show', 'approve']) {
      const line = await commandLine(['waits', command, id], { app: { waits: [wait] } });
      expect(await line.done).toBe(1);
      expect(line.stderr()).toContain(`WAIT_NOT_FOUND: There is no wait "${id}"`);
    }
  },
);

test('approve answers, goes on with the run and shows only what is new', async () => {
  const line = await commandLine(['waits', 'approve', wait.id], {
    app: { waits: [wait], turns: [{ events: goesOn }] },
  });
  expect(await line.done).toBe(0);
  expect(line.asked).toEqual([
    { door: 'resolve', with: [wait.id, { decision: 'approve' }] },
    { door: 'resume', with: [RUN] },
  ]);
  expect(line.stdout()).toBe('Written.\n');
  expect(line.configs[0]?.start).toBeUndefined();
});

test('the run that goes on gives its own exit code', async () => {
  const line = await commandLine(['waits', 'approve', wait.id], {
    app: { waits: [wait], turns: [{ result: { kind: 'paused', waits: [wait] } }] },
  });
  expect(await line.done).toBe(3);
});

test.each([
  [['--remember', 'tool'], { what: 'tool', within: 'run' }],
  [['--remember', 'arguments', '--within', 'user'], { what: 'arguments', within: 'user' }],
  [['--within', 'conversation', '--remember', 'tool'], { what: 'tool', within: 'conversation' }],
])('approve %j is remembered so', async (flags, remember) => {
  const line = await commandLine(['waits', 'approve', wait.id, ...flags], {
    app: { waits: [wait], turns: [{ events: goesOn }] },
  });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with).toEqual([wait.id, { decision: 'approve', remember }]);
});

test.each([
  [['approve', wait.id, '--within', 'run'], 'nothing is'],
  [
    ['approve', wait.id, '--remember', 'all'],
    "option '--remember <what>' argument 'all' is invalid",
  ],
  [['reject', wait.id, '--remember', 'tool'], "unknown option '--remember'"],
])('%j is a wrong command line', async (argv, message) => {
  const line = await commandLine(['waits', ...argv], { app: { waits: [wait] } });
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain(message);
  expect(line.asked).toEqual([]);
});

const any = approval({
  allowed: [
    'reject',
    'modify',
    'defer',
    'cancel',
    'answer',
    'result',
    'happened',
    'did-not-happen',
    'abandon',
  ],
});

test.each([
  [['reject', any.id, '--comment', 'Not now.'], { decision: 'reject', comment: 'Not now.' }],
  [['modify', any.id, '{"path":"b"}'], { decision: 'modify', input: { path: 'b' } }],
  [['defer', any.id], { decision: 'defer' }],
  [['cancel', any.id, '--digest', 'd'], { decision: 'cancel', digest: 'd' }],
  [['answer', any.id, '"yes"'], { decision: 'answer', value: 'yes' }],
  [
    ['result', any.id, '"done"'],
    { decision: 'result', outcome: 'ok', content: [{ type: 'text', text: 'done' }] },
  ],
  [
    ['result', any.id, '{"n":1}', '--error'],
    { decision: 'result', outcome: 'error', content: [{ type: 'data', data: { n: 1 } }] },
  ],
  [['happened', any.id, '{"id":7}'], { decision: 'happened', result: { id: 7 } }],
  [['did-not-happen', any.id], { decision: 'did-not-happen' }],
  [['abandon', any.id], { decision: 'abandon' }],
])('%j is that answer', async (argv, resolution) => {
  const line = await commandLine(['waits', ...argv], { app: { waits: [any] } });
  expect(await line.done).toBe(0);
  expect(line.asked[0]?.with).toEqual([any.id, resolution]);
});

test('a decision that is not allowed is refused by the application', async () => {
  const line = await commandLine(['waits', 'approve', any.id], { app: { waits: [any] } });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('WAIT_DECISION_NOT_ALLOWED');
});

test.each([
  ['modify', '{"path":', '<input> is not JSON: "{\\"path\\":"'],
  ['modify', '"text"', '<input> must be a JSON object'],
  ['answer', 'yes', '<value> is not JSON: "yes"'],
])('%s %s is refused before anything is opened', async (command, argument, message) => {
  const line = await commandLine(['waits', command, wait.id, argument]);
  expect(await line.done).toBe(2);
  expect(line.stderr()).toContain(message);
  expect(line.stderr()).toContain('Mend: Give ');
  expect(line.configs).toEqual([]);
});

test('finds the wait of a child run on a later page', async () => {
  const child = approval({ id: 'r1.1.0.2.0.w1' as typeof wait.id, runId: 'r1.1.0' as typeof RUN });
  const line = await commandLine(['waits', 'show', child.id], { app: { waits: [child] } });
  expect(await line.done).toBe(0);
  expect(line.doors()).toEqual(['waits', 'waits']);
});

test('runs show names the open waits of a run', async () => {
  const line = await commandLine(['runs', 'show', RUN], {
    app: { runs: [runState()], waits: [wait] },
  });
  expect(await line.done).toBe(0);
  expect(line.stdout()).toContain('status\tinterrupted\n');
  expect(line.stderr()).toContain('hexagent waits approve r1.1.0.w1');
});

test('a folder without configuration is an error that says what to do', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'hexagent-none-'));
  const line = await commandLine(['waits', 'list'], { cwd });
  expect(await line.done).toBe(1);
  expect(line.stderr()).toContain('CONFIG_NOT_FOUND');
  expect(line.stderr()).toContain('Mend: Create hexagent.config.ts');
});
