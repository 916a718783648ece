import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AgentError, BlobStore, bind, defineAgent, suspend, type Tool } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  effect,
  eventsOf,
  type Gate,
  gate,
  logOf,
  read,
  resultsIn,
  settled,
  typesOf,
  until,
} from './harness.ts';

const agentSpec = {
  name: 'worker',
  recovery: 'action-boundary',
  limits: { maxToolCalls: 40 },
} as const;
const durable = (tools: readonly Tool[]) => defineAgent({ ...agentSpec, tools });

test('reads run beside each other, effects one after the other, and results come in call order', async () => {
  const gates = new Map<string, Gate<string>>();
  const running = new Set<string>();
  const begun: string[] = [];
  const held = ({ id }: { readonly id: string }): Promise<string> => {
    const own = gate<string>();
    gates.set(id, own);
    running.add(id);
    begun.push(id);
    return own.promise.finally(() => running.delete(id));
  };
  const agent = durable([read('look', held), effect('write', held)]);
  const app = await appOf(
    agent,
    [calls(['write', 'w1'], ['look', 'r1'], ['write', 'w2'], ['look', 'r2']), { text: 'Done.' }],
    { store: memoryStore() },
  );
  const run = await app.start(agent, 'go');
  await until(() => running.size === 3);
  expect(begun).toEqual(['w1', 'r1', 'r2']);
  gates.get('r2')?.open('2');
  await settled();
  expect(begun).toEqual(['w1', 'r1', 'r2']);
  gates.get('w1')?.open('1');
  await until(() => running.has('w2'));
  gates.get('w2')?.open('3');
  gates.get('r1')?.open('4');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app).map(({ text }) => text)).toEqual(['1', '4', '3', '2']);
});

test('effects that say concurrent run beside each other', async () => {
  const both = gate();
  let count = 0;
  const agent = durable([
    effect(
      'write',
      async () => {
        count += 1;
        if (count === 2) both.open();
        await both.promise;
        return count;
      },
      { concurrent: true },
    ),
  ]);
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
});

test('an effect that is undecided stops the effects behind it, and no read', async () => {
  const ran: string[] = [];
  const note = ({ id }: { readonly id: string }): string => {
    ran.push(id);
    return id;
  };
  const agent = durable([
    read('look', note),
    effect('write', note),
    effect('gated', note, { approval: 'required' }),
  ]);
  const app = await appOf(
    agent,
    [calls(['write', 'w1'], ['gated', 'g'], ['write', 'w2'], ['look', 'r']), { text: 'Done.' }],
    { store: memoryStore() },
  );
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'paused' });
  expect([...ran].sort()).toEqual(['r', 'w1']);
  await answer(app, run.runId, { decision: 'approve' });
  await (await app.attach(agent, run.runId)).result;
  expect(ran.slice(2)).toEqual(['g', 'w2']);
});

test('an unknown tool, bad arguments and a tool’s failure are results that the model reads; the rest of the batch runs', async () => {
  const agent = durable([
    read('look', ({ id }) => id),
    read('broken', () => {
      throw new Error('out of paper');
    }),
  ]);
  const app = await appOf(
    agent,
    [
      {
        calls: [
          { name: 'nothing', input: {} },
          { name: 'look', input: { id: 7 } },
          { name: 'broken', input: { id: 'x' } },
          { name: 'look', input: { id: 'fine' } },
          { name: 'look', input: '{"id":"cut' },
        ],
      },
      { text: 'Done.' },
    ],
    { store: memoryStore() },
  );
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'completed' });
  expect(resultsIn(app)).toEqual([
    { outcome: 'error', text: expect.stringContaining('look') },
    { outcome: 'error', text: expect.stringContaining('id') },
    { outcome: 'error', text: expect.stringContaining('out of paper') },
    { outcome: 'ok', text: 'fine' },
    { outcome: 'error', text: expect.stringContaining('not complete, valid JSON') },
  ]);
  const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  expect(results.map(({ outcome }) => outcome).sort()).toEqual([
    'error',
    'error',
    'error',
    'error',
    'ok',
  ]);
});

describe('cases C31: truncated arguments', () => {
  test.each(['length', 'tool-calls'] as const)(
    'are never repaired and never run (%s)',
    async (finish) => {
      const ran: string[] = [];
      const agent = defineAgent({
        name: 'stateless',
        tools: [
          read('look', ({ id }) => {
            ran.push(id);
            return id;
          }),
        ],
      });
      const app = await appOf(agent, [
        { calls: [{ name: 'look', input: '{"id":"/etc/hosts","content":"line1' }], finish },
        { text: 'Done.' },
      ]);
      expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
      expect(ran).toEqual([]);
      expect(resultsIn(app)).toMatchObject([{ outcome: 'error' }]);
    },
  );
});

test('a failure with onError "fail" ends the run; what a sibling had done is on record', async () => {
  const slow = gate<string>();
  const agent = durable([
    read(
      'broken',
      async () => {
        await Promise.resolve();
        slow.open('slow result');
        throw new Error('out of paper');
      },
      { onError: 'fail' },
    ),
    read('look', () => slow.promise),
  ]);
  const app = await appOf(agent, [calls(['broken', 'x'], ['look', 'y'])], { store: memoryStore() });
  const run = await app.start(agent, 'go');
  expect(await run.result).toMatchObject({
    kind: 'failed',
    error: { code: 'TOOL_FAILED', message: expect.stringContaining('out of paper') },
  });
  const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  expect(results.map(({ toolName, outcome }) => `${toolName} ${outcome}`).sort()).toEqual([
    'broken error',
    'look ok',
  ]);
});

test('a batch beyond the limit is refused whole: nothing of it runs', async () => {
  const ran: string[] = [];
  const agent = defineAgent({
    name: 'limited',
    recovery: 'action-boundary',
    limits: { maxToolCalls: 1 },
    tools: [
      effect('write', ({ id }) => {
        ran.push(id);
        return id;
      }),
    ],
  });
  const app = await appOf(agent, [calls(['write', 'a'], ['write', 'b'])], { store: memoryStore() });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: { code: 'MAX_TOOL_CALLS_EXCEEDED' },
  });
  expect(ran).toEqual([]);
});

test('progress, artifacts and state of a tool are events of its step', async () => {
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    tools: [
      read('look', async (_input, tool) => {
        tool.progress('half way', { percent: 50 });
        tool.progress('nearly');
        tool.artifact({ id: 'a1', name: 'report', parts: [{ type: 'text', text: 'x' }] });
        tool.artifact({ id: 'a2', parts: [] });
        tool.state.patch([{ op: 'add', path: '/seen', value: true }]);
        await Promise.resolve();
        return JSON.stringify(tool.state.get());
      }),
    ],
  });
  const app = await appOf(agent, [calls(['look', 'x']), { text: 'Done.' }], {
    store: memoryStore(),
  });
  const run = await app.start(agent, { message: 'go', state: { a: 1 } });
  await run.result;
  const log = await logOf(app, run.runId);
  expect(eventsOf(log, 'state-snapshot')).toMatchObject([{ snapshot: { a: 1 } }]);
  expect(eventsOf(log, 'progress')).toEqual([
    {
      type: 'progress',
      message: 'half way',
      detail: { percent: 50 },
      callId: `${run.runId}.1.0`,
    },
    { type: 'progress', message: 'nearly', callId: `${run.runId}.1.0` },
  ]);
  expect(eventsOf(log, 'artifact')).toEqual([
    { type: 'artifact', artifactId: 'a1', name: 'report', parts: [{ type: 'text', text: 'x' }] },
    { type: 'artifact', artifactId: 'a2', parts: [] },
  ]);
  expect(eventsOf(log, 'state-delta')).toMatchObject([
    { patch: [{ op: 'add', path: '/seen', value: true }] },
  ]);
  expect(resultsIn(app)).toMatchObject([{ text: '{"a":1,"seen":true}' }]);
  expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
    shared: { a: 1, seen: true },
  });
});

test('any batch, completed in any order: one result a call, in call order; effects in order, one at a time', async () => {
  const call = fc.record({
    tool: fc.constantFrom('look', 'write', 'gated', 'nothing'),
    turns: fc.nat(4),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 7 }),
      fc.infiniteStream(fc.nat(6)),
      fc.boolean(),
      async (batch, picks, isDurable) => {
        const effectsRun: string[] = [];
        let writing = 0;
        const behave = async ({ id }: { readonly id: string }): Promise<string> => {
          const { turns, fails } = batch[Number(id)] ?? { turns: 0, fails: false };
          for (let turn = 0; turn < turns; turn += 1) await new Promise((go) => setImmediate(go));
          if (fails) throw new Error(`failed ${id}`);
          return `result ${id}`;
        };
        const write = async (input: { readonly id: string }): Promise<string> => {
          expect(writing).toBe(0);
          writing += 1;
          effectsRun.push(input.id);
          try {
            return await behave(input);
          } finally {
            writing -= 1;
          }
        };
        const gate = isDurable ? ({ approval: 'required' } as const) : {};
        const agent = defineAgent({
          name: 'worker',
          ...(isDurable ? { recovery: 'action-boundary' as const } : {}),
          tools: [read('look', behave), effect('write', write), effect('gated', write, gate)],
        });
        const asked = batch.map(({ tool }, index) => [tool, String(index)] as const);
        const app = await appOf(
          agent,
          [calls(...asked), { text: 'Done.' }],
          isDurable ? { store: memoryStore() } : {},
        );
        const run = await app.start(agent, 'go');
        let result = await run.result;
        while (result.kind === 'paused') {
          const pick = picks.next().value;
          const wait = result.waits[pick % result.waits.length];
          if (wait === undefined) throw new Error('paused without a wait');
          await app.runs.resolve(wait.id, { decision: 'approve' }, app.local('operator'));
          result = await (await app.attach(agent, run.runId)).result;
        }
        expect(result.kind).toBe('completed');
        expect(resultsIn(app).map(({ text }) => text.split('\n')[0])).toEqual(
          batch.map(({ tool, fails }, index) =>
            tool === 'nothing'
              ? expect.stringContaining('nothing')
              : fails
                ? expect.stringContaining(`failed ${index}`)
                : `result ${index}`,
          ),
        );
        expect(effectsRun).toEqual(
          batch.flatMap(({ tool }, index) =>
            tool === 'write' || tool === 'gated' ? [String(index)] : [],
          ),
        );
        if (isDurable) {
          const log = await logOf(app, run.runId);
          const ids = eventsOf(log, 'tool-call-result').map(({ callId }) => callId);
          expect([...ids].sort()).toEqual(
            batch.map((_, index) => `${run.runId}.1.${index}`).sort(),
          );
          expect(typesOf(log).filter((type) => type === 'run-finished')).toHaveLength(1);
        }
        await app.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('what runs beside a failure may finish, and is recorded: results, failures, and large ones', async () => {
  const failed = gate();
  const later = async <T>(work: () => T): Promise<T> => {
    await failed.promise;
    await settled(1);
    return work();
  };
  const agent = durable([
    read(
      'broken',
      async () => {
        setTimeout(() => failed.open(), 0);
        throw new AgentError('TOOL_FAILED', { message: 'no paper', mend: '' });
      },
      { onError: 'fail' },
    ),
    read('look', ({ id }) => later(() => id)),
    read('large', () => later(() => 'xxxx'), { maxResultBytes: 1 }),
    read('bad', () =>
      later(() => {
        throw new Error('bad');
      }),
    ),
    read('waits', () => later(() => suspend({ kind: 'event', name: 'e' }))),
  ]);
  const blobs = { put: async () => 'ref', get: async () => new Uint8Array() };
  const more = Array.from({ length: 30 }, (_, n) => ['look', String(n)] as const);
  const app = await appOf(
    defineAgent({ ...agentSpec, tools: agent.tools }),
    [calls(['broken', 'x'], ['large', 'x'], ['bad', 'x'], ['waits', 'x'], ...more)],
    { store: memoryStore(), provide: [bind(BlobStore, blobs)] },
  );
  const run = await app.runs.start('worker', { message: 'go' }, app.local('me'));
  expect(await run.result).toMatchObject({ kind: 'failed', error: { message: 'no paper' } });
  const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  const outcomes = new Map(
    results.map(({ callId, outcome }) => [callId.split('.').at(-1), outcome]),
  );
  expect([0, 1, 2, 3, 4, 33].map((n) => outcomes.get(String(n)))).toEqual([
    'error',
    'ok',
    'error',
    'interrupted',
    'ok',
    'ok',
  ]);
  expect(results).toHaveLength(34);
});

test('an answer that comes back while another one is being stored outside, after a cancel, is in doubt', async () => {
  const put = gate<string>();
  const putting = gate();
  const agent = durable([
    read('large', async () => 'xxxx', { maxResultBytes: 1 }),
    effect(
      'write',
      (_input, tool) =>
        new Promise((_, reject) => {
          tool.signal.addEventListener('abort', () => reject(tool.signal.reason));
        }),
      { timeoutMs: 60_000 },
    ),
  ]);
  const blobs = {
    put: () => {
      putting.open();
      return put.promise;
    },
    get: async () => new Uint8Array(),
  };
  const app = await appOf(agent, [calls(['large', 'x'], ['write', 'y'])], {
    store: memoryStore(),
    provide: [bind(BlobStore, blobs)],
  });
  const run = await app.start(agent, 'go');
  await putting.promise;
  await app.runs.cancel(run.runId, undefined, app.local('me'));
  await settled();
  put.open('ref');
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    unknownEffects: [`${run.runId}.1.1`],
  });
});
