import { callIdOf, type LedgerCall } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';
import { approval, RUN, runState } from '../../test/fake-app.ts';

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

test('shows a run with its ledger as one record', async () => {
  const line = await commandLine(['runs', 'show', 'r2', '--json'], { app: { runs: [ended] } });
  expect(await line.done).toBe(0);
  expect(line.records()).toEqual([
    { type: 'run', ...ended, waits: [], calls: [], deliveries: 0, lastSeq: 1, prunedThrough: 0 },
  ]);
});

const call: LedgerCall = {
  callId: callIdOf('r1.2.0'),
  runId: RUN,
  step: 2,
  toolName: 'payments.charge',
  stage: 'unknown',
  inputDigest: 'd',
  idempotencyKey: 'abcdefghijklmnopqrstuvwxyz',
  resume: 'ask',
  attempt: 1,
  input: { cents: 1200 },
  waits: [approval({ kind: 'recovery' })],
};

test('shows a person every call with stage, attempt, the beginning of its key, and its waits', async () => {
  const { input: _withheld, ...unknown } = call;
  const line = await commandLine(['runs', 'show', RUN], {
    app: {
      snapshot: async () => ({
        run: runState({ parentRunId: 'r0' as typeof RUN }),
        lastSeq: 99,
        prunedThrough: 7,
        deliveries: 2,
        messages: [],
        calls: [call, { ...unknown, callId: callIdOf('r1.2.1'), waits: [] }],
        waits: [],
        open: [],
      }),
    },
  });
  expect(await line.done).toBe(0);
  const rows = line.stdout().split('\n');
  expect(rows).toContain('parent\tr0');
  expect(rows).toContain('deliveries\t2');
  expect(rows).toContain('events gone to\t7');
  expect(rows).toContain(
    '2.0\tpayments.charge\tunknown\t1\tabcdefghijkl\trecovery pending\t{"cents":1200}',
  );
  expect(rows).toContain('2.1\tpayments.charge\tunknown\t1\tabcdefghijkl\t\twithheld');
});

test('forks a run and follows the fork', async () => {
  const line = await commandLine(
    ['runs', 'fork', RUN, '--at', '42', '--instruction', 'Shorter.', '--agent', 'assistant'],
    { app: { turns: [{ result: { kind: 'completed', text: 'Short.' } }] } },
  );
  expect(await line.done).toBe(0);
  expect(line.asked).toEqual([
    { door: 'fork', with: [RUN, { atSeq: 42, instruction: 'Shorter.', agent: 'assistant' }] },
  ]);
  expect(line.stdout()).toBe('Short.\n');
  expect(line.stderr()).toContain('Forked: r1');
});

test('forks without an instruction, and needs a place', async () => {
  const line = await commandLine(['runs', 'fork', RUN, '--at', '42', '--json'], {
    app: { turns: [{ result: { kind: 'paused', waits: [] } }] },
  });
  expect(await line.done).toBe(3);
  expect(line.asked[0]?.with[1]).toEqual({ atSeq: 42 });
  expect(line.records()[0]).toEqual({ type: 'forked', runId: RUN, from: RUN, atSeq: 42 });
  expect(await (await commandLine(['runs', 'fork', RUN])).done).toBe(2);
  expect(await (await commandLine(['runs', 'fork', RUN, '--at', 'there'])).done).toBe(2);
});

test('resume says what is no longer kept, and shows the rest', async () => {
  const line = await commandLine(['runs', 'resume', RUN, '--after', '0'], {
    app: {
      runs: [runState()],
      turns: [{ prunedThrough: 7, result: { kind: 'completed', text: 'Done.' } }],
      snapshot: async () => ({
        run: runState(),
        lastSeq: 99,
        prunedThrough: 7,
        deliveries: 0,
        messages: [],
        calls: [],
        waits: [],
        open: [],
      }),
    },
  });
  expect(await line.done).toBe(0);
  expect(line.stderr()).toContain('What was shown up to 7 is no longer kept.');
  expect(line.stdout()).toBe('Done.\n');
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
