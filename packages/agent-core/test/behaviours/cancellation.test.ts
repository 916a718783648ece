import { describe, expect, test } from 'vitest';
import {
  type AgentModel,
  bind,
  bootstrap,
  ClockPort,
  defineAgent,
  Model,
  type RunContext,
} from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
import { fakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  collected,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  logOf,
  read,
  resultsIn,
  typesOf,
  until,
} from './harness.ts';

const hanging = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('core-contract §12.43', () => {
  test('a cancel in the middle of the stream ends the run with one cancel item', async () => {
    const agent = defineAgent({ name: 'slow', recovery: 'action-boundary' });
    const slow = await appOf(agent, [{ until: gate().promise }], { store: memoryStore() });
    const run = await slow.start(agent, 'go');
    await until(() => slow.model.requests.length === 1);
    await slow.runs.cancel(run.runId, 'enough', slow.local('boss'));
    expect(await run.result).toMatchObject({
      kind: 'cancelled',
      reason: 'enough',
      requestedBy: 'boss',
    });
    const kinds: string[] = [];
    for await (const item of run.yields()) kinds.push(item.kind);
    expect(kinds.filter((kind) => kind === 'cancel')).toHaveLength(1);
    expect(kinds.at(-1)).toBe('cancel');
    const rows = (await evidenceOf(slow, run.runId)).filter(({ kind }) => kind === 'cancellation');
    expect(rows.map(({ payload }) => payload)).toEqual([
      {
        outcomes: [],
        succeeded: true,
        signalSeq: 1,
        reason: 'enough',
        requestedBy: 'boss',
      },
    ]);
    expect(await slow.runs.get(run.runId, slow.local('me'))).toMatchObject({
      status: 'cancelled',
      transition: 'cancelled',
      reason: 'cancellation-requested',
    });
  });

  test('a second cancel changes nothing', async () => {
    const agent = defineAgent({ name: 'slow', recovery: 'action-boundary' });
    const app = await appOf(agent, [{ until: gate().promise }], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await app.runs.cancel(run.runId, 'first', app.local('boss'));
    await run.result;
    await app.runs.cancel(run.runId, 'second', app.local('boss'));
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({ status: 'cancelled' });
    expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toMatchObject([
      { outcome: { reason: 'first' } },
    ]);
  });
});

test('a cancel reaches running tools at once; reads had no effect, effects are unknown', async () => {
  const started: string[] = [];
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    tools: [
      read('look', (_input, tool) => {
        started.push('look');
        return hanging(tool.signal);
      }),
      effect('write', (_input, tool) => {
        started.push('write');
        return hanging(tool.signal);
      }),
      effect(
        'put',
        (_input, tool) => {
          started.push('put');
          return hanging(tool.signal);
        },
        { idempotency: 'idempotent', concurrent: true },
      ),
    ],
  });
  const app = await appOf(
    agent,
    [calls(['look', 'a'], ['write', 'b'], ['put', 'c'], ['write', 'd'])],
    { store: memoryStore() },
  );
  const run = await app.start(agent, 'go');
  await until(() => started.length === 3);
  await app.runs.cancel(run.runId, undefined, app.local('boss'));
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    unknownEffects: [`${run.runId}.1.1`],
  });
  const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  const known = results.map(({ callId, outcome, content }) => [
    callId.slice(run.runId.length),
    outcome,
    content
      .map((part) => (part.type === 'text' && part.text.includes('not known') ? '?' : 'no'))
      .join(''),
  ]);
  expect(known).toEqual([
    ['.1.0', 'interrupted', 'no'],
    ['.1.1', 'interrupted', '?'],
    ['.1.2', 'interrupted', '?'],
    ['.1.3', 'interrupted', 'no'],
  ]);
});

test('a tool that had come back when the cancel came keeps its result', async () => {
  const slow = gate();
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    tools: [
      effect('write', async () => 'written', { concurrent: true }),
      effect(
        'fails',
        async () => {
          throw new Error('no');
        },
        { concurrent: true },
      ),
      read('look', async (_input, tool) => {
        slow.open();
        return hanging(tool.signal);
      }),
    ],
  });
  const app = await appOf(agent, [calls(['write', 'a'], ['fails', 'b'], ['look', 'c'])], {
    store: memoryStore(),
  });
  const run = await app.start(agent, 'go');
  await slow.promise;
  await until(async () => (await logOfNow(app, run.runId)) >= 2);
  await app.runs.cancel(run.runId, undefined, app.local('boss'));
  await run.result;
  const results = eventsOf(await logOf(app, run.runId), 'tool-call-result');
  expect(results.map(({ toolName, outcome }) => `${toolName} ${outcome}`).sort()).toEqual([
    'fails error',
    'look interrupted',
    'write ok',
  ]);
});

async function logOfNow(
  app: Awaited<ReturnType<typeof appOf>>,
  runId: Parameters<typeof logOf>[1],
): Promise<number> {
  const { counters } = await app.runs.get(runId, app.local('me'));
  return Number(counters['messages']) - 2;
}

test('the signal of a caller aborts a stateless run: it is cancelled, and everything settles', async () => {
  const control = new AbortController();
  const seen: unknown[] = [];
  const agent = defineAgent({
    name: 'stateless',
    tools: [
      effect('write', (_input, tool) => {
        tool.signal.addEventListener('abort', () => seen.push(tool.signal.reason));
        return new Promise(() => undefined);
      }),
    ],
  });
  const app = await appOf(agent, [calls(['write', 'a'])]);
  const run = await app.start(agent, 'go', { signal: control.signal });
  await until(() => app.model.requests.length === 1);
  const events = collected(run.events());
  await new Promise((go) => setTimeout(go, 5));
  control.abort(new Error('the client went away'));
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    unknownEffects: [`${run.runId}.1.0`],
  });
  expect(typesOf(await events).at(-1)).toBe('run-finished');
  expect(seen).toHaveLength(1);
  await app.close();
});

test('a signal that is aborted before the start cancels the run before the model is asked', async () => {
  const agent = defineAgent({ name: 'stateless' });
  const app = await appOf(agent, []);
  expect(await app.run(agent, 'go', { signal: AbortSignal.abort() })).toMatchObject({
    kind: 'cancelled',
  });
  expect(app.model.requests).toEqual([]);
});

test('a stateless run is cancelled through the gateway, with reason and author', async () => {
  const agent = defineAgent({ name: 'stateless' });
  const app = await appOf(agent, [{ until: gate().promise }]);
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  await app.runs.cancel(run.runId, 'stop', app.local('local'));
  expect(await run.result).toMatchObject({
    kind: 'cancelled',
    reason: 'stop',
    requestedBy: 'local',
  });
});

describe('cases C28: aborting in the middle of the answer', () => {
  test('settles every promise, although the model never lets go', async () => {
    const agent = defineAgent({ name: 'stateless' });
    let returned = false;
    const stuck: AgentModel = {
      id: 'stuck',
      capabilities: () => ({
        tools: true,
        reasoning: false,
        structuredOutput: 'none',
        inputModalities: ['text'],
      }),
      stream: () => ({
        [Symbol.asyncIterator]: () => {
          let count = 0;
          return {
            next: () => {
              count += 1;
              if (count > 1) return new Promise(() => undefined);
              return Promise.resolve({ done: false, value: [{ type: 'text', text: 'x' }] });
            },
            return: () => {
              returned = true;
              return Promise.reject(new Error('stuck, too'));
            },
          };
        },
      }),
    };
    const control = new AbortController();
    const app = await bootstrap({ plugins: [], agents: [agent], provide: [bind(Model, stuck)] });
    const run = await app.start(agent, 'go', { signal: control.signal });
    for await (const { event } of run.events()) {
      if (event.type === 'message-delta') control.abort();
    }
    expect(await run.result).toMatchObject({ kind: 'cancelled', text: '' });
    expect(returned).toBe(true);
    await app.close();
  });
});

describe('core-contract §12.26', () => {
  const cancelling = async (tasks: (context: RunContext) => void) => {
    const agent = defineAgent({
      name: 'custom',
      recovery: 'action-boundary',
      execute: async (_input, context) => {
        tasks(context);
        begun.open();
        await hanging(context.signal);
        return 'never';
      },
    });
    const begun = gate();
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await begun.promise;
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    const result = await run.result;
    const rows = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'cancellation');
    const state = await app.runs.get(run.runId, app.local('me'));
    return { result, payload: rows[0]?.payload, state };
  };

  test('cleanups run in order, and what came of them is on record', async () => {
    const order: string[] = [];
    const { result, payload } = await cancelling((context) => {
      for (const targetRef of ['a', 'b'])
        runControls(context).onCancel({
          target: 'tool-execution',
          targetRef,
          cleanup: async () => void order.push(targetRef),
        });
    });
    expect(order).toEqual(['a', 'b']);
    expect(result).toMatchObject({ kind: 'cancelled' });
    expect(payload).toMatchObject({
      succeeded: true,
      outcomes: [
        { target: 'tool-execution', targetRef: 'a', status: 'succeeded' },
        { target: 'tool-execution', targetRef: 'b', status: 'succeeded' },
      ],
    });
  });

  test('a cleanup that fails makes the run failed, and the others still run', async () => {
    const { result, payload, state } = await cancelling((context) => {
      const { onCancel } = runControls(context);
      onCancel({
        target: 'model-stream',
        targetRef: 'bad',
        cleanup: () => Promise.reject(new Error('will not close')),
      });
      onCancel({
        target: 'delegate-execution',
        targetRef: 'worse',
        cleanup: () => Promise.reject('odd'),
      });
      onCancel({ target: 'tool-execution', targetRef: 'good', cleanup: async () => undefined });
    });
    expect(result).toMatchObject({
      kind: 'failed',
      error: {
        code: 'CANCELLATION_CLEANUP_FAILED',
        message: expect.stringContaining('bad: will not close'),
      },
    });
    expect(payload).toMatchObject({
      succeeded: false,
      outcomes: [
        { status: 'failed', message: 'will not close' },
        { status: 'failed', message: 'odd' },
        { status: 'succeeded' },
      ],
    });
    expect(state).toMatchObject({ status: 'failed', reason: 'cancellation-cleanup-failed' });
  });
});

describe('time', () => {
  test('a run that uses up its active time fails with its own error, and waiting is free', async () => {
    const clock = fakeClock();
    const agent = defineAgent({
      name: 'timed',
      recovery: 'action-boundary',
      limits: { timeoutMs: 1_000 },
      tools: [effect('gated', (_input, tool) => hanging(tool.signal), { approval: 'required' })],
    });
    const begin = gate();
    const app = await appOf(agent, [{ ...calls(['gated', 'a']), until: begin.promise }], {
      store: memoryStore({ clock }),
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await clock.advance(600);
    begin.open();
    const paused = await run.result;
    if (paused.kind !== 'paused') throw new Error(paused.kind);
    await clock.advance(3_600_000);
    const [wait] = paused.waits;
    if (wait === undefined) throw new Error('no wait');
    await app.runs.resolve(wait.id, { decision: 'approve' }, app.local('me'));
    const resumed = await app.attach(agent, run.runId);
    await clock.advance(399);
    expect((await app.runs.get(run.runId, app.local('me'))).status).toBe('active');
    await clock.advance(1);
    expect(await resumed.result).toMatchObject({
      kind: 'failed',
      error: { code: 'RUN_TIMEOUT' },
      unknownEffects: [`${run.runId}.1.0`],
    });
    expect(await app.runs.get(run.runId, app.local('me'))).toMatchObject({
      status: 'failed',
      transition: 'timed-out',
      reason: 'timeout',
    });
  });

  test('a read that outlives its time is told to the model as it is', async () => {
    const clock = fakeClock();
    const started = gate();
    const agent = defineAgent({
      name: 'timed',
      recovery: 'action-boundary',
      tools: [
        read(
          'look',
          () => {
            started.open();
            return new Promise(() => undefined);
          },
          { timeoutMs: 100 },
        ),
      ],
    });
    const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }], {
      store: memoryStore({ clock }),
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    await started.promise;
    await clock.advance(100);
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(resultsIn(app)).toEqual([{ outcome: 'error', text: expect.stringContaining('100') }]);
  });

  test('an effect that outlives its time is unknown: never "failed", a person is asked', async () => {
    const clock = fakeClock();
    const started = gate();
    const agent = defineAgent({
      name: 'timed',
      recovery: 'action-boundary',
      tools: [
        effect(
          'write',
          () => {
            started.open();
            return new Promise(() => undefined);
          },
          { timeoutMs: 100 },
        ),
      ],
    });
    const app = await appOf(agent, [calls(['write', 'a'])], {
      store: memoryStore({ clock }),
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    await started.promise;
    await clock.advance(100);
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'recovery' }] });
    expect(eventsOf(await logOf(app, run.runId), 'tool-call-result')).toEqual([]);
  });

  test('in a stateless run it is an interrupted result that says so', async () => {
    const clock = fakeClock();
    const started = gate();
    const agent = defineAgent({
      name: 'timed',
      tools: [
        effect(
          'write',
          () => {
            started.open();
            return new Promise(() => undefined);
          },
          { timeoutMs: 100 },
        ),
      ],
    });
    const app = await appOf(agent, [calls(['write', 'a']), { text: 'Done.' }], {
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    await started.promise;
    await clock.advance(100);
    expect(await run.result).toMatchObject({
      kind: 'completed',
      unknownEffects: [`${run.runId}.1.0`],
    });
    expect(resultsIn(app)).toMatchObject([{ outcome: 'interrupted' }]);
  });

  test('a tool that comes back in time is not disturbed', async () => {
    const agent = defineAgent({
      name: 'timed',
      tools: [read('look', () => 'at once', { timeoutMs: 60_000 })],
    });
    const app = await appOf(agent, [calls(['look', 'a']), { text: 'Done.' }]);
    expect(await app.run(agent, 'go')).toMatchObject({ kind: 'completed' });
    expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'at once' }]);
  });
});

test('a caller’s signal ends a tool that has a time of its own, whatever the reason of the abort is', async () => {
  const control = new AbortController();
  const started = gate();
  const agent = defineAgent({
    name: 'stateless',
    tools: [
      read(
        'look',
        () => {
          started.open();
          return new Promise(() => undefined);
        },
        { timeoutMs: 60_000 },
      ),
    ],
  });
  const app = await appOf(agent, [calls(['look', 'a'])]);
  const run = await app.start(agent, 'go', { signal: control.signal });
  await started.promise;
  control.abort('gone');
  expect(await run.result).toMatchObject({ kind: 'cancelled' });
});
