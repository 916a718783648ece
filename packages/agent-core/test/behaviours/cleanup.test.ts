import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  type AgentDefinition,
  bind,
  ClockPort,
  type Commit,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  type RunContext,
  type RunId,
  suspend,
  type Tool,
  type ToolContext,
  ToolSource,
} from '../../src/index.ts';
import { runControls } from '../../src/runner/run-controls.ts';
import { type FakeClock, fakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  eventsOf,
  evidenceOf,
  type Fault,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  resultsIn,
  storeWithClock,
  type TestApp,
  until,
} from './harness.ts';

type Cleanup = (input: { readonly id: string }, tool: ToolContext<unknown>) => void | Promise<void>;

const never = new Promise<never>(() => undefined);

/** A tool that begins something and does not come back; `cleanup` puts it in order. */
function begins(
  name: string,
  cleanup: Cleanup | undefined,
  more: { readonly started?: string[]; readonly returns?: boolean } = {},
): Tool {
  return defineTool({
    name,
    description: `Begins ${name}.`,
    input: Type.Object({ id: Type.String() }),
    effects: effects.writeState(),
    approval: 'not-required',
    concurrent: true,
    execute: ({ id }) => {
      more.started?.push(id);
      return more.returns === true ? `did ${id}` : never;
    },
    ...(cleanup === undefined ? {} : { cleanup }),
  }) as unknown as Tool;
}

function agentWith(tools: readonly Tool[]): AgentDefinition {
  return defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['pause', 'resume'],
    tools,
  });
}

const stateOf = (app: TestApp, runId: RunId) => app.runs.get(runId, app.local('me'));

async function reportIn(app: TestApp, runId: RunId) {
  const rows = (await evidenceOf(app, runId)).filter(({ kind }) => kind === 'cancellation');
  return rows.map(({ payload }) => payload);
}

describe('a tool with a cleanup', () => {
  test('cleans up what a started call left behind: with its input, its call and a signal of its own', async () => {
    const seen: unknown[] = [];
    const started: string[] = [];
    const agent = agentWith([
      begins(
        'deploy',
        ({ id }, tool) => {
          seen.push({ id, call: tool.call.callId, attempt: tool.call.attempt });
          expect(tool.signal.aborted).toBe(false);
        },
        { started },
      ),
    ]);
    const app = await appOf(agent, [calls(['deploy', 'a'], ['deploy', 'b'])], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    await until(() => started.length === 2);
    await app.runs.cancel(run.runId, 'enough', app.local('boss'));
    expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
    const [first, second] = [`${run.runId}.1.0`, `${run.runId}.1.1`];
    expect(seen).toEqual([
      { id: 'a', call: first, attempt: 1 },
      { id: 'b', call: second, attempt: 1 },
    ]);
    const outcomes = [first, second].map((targetRef) => ({
      target: 'tool-execution',
      targetRef,
      status: 'succeeded',
    }));
    expect(await reportIn(app, run.runId)).toEqual([
      { outcomes, succeeded: true, signalSeq: 1, reason: 'enough', requestedBy: 'boss' },
    ]);
    expect(await stateOf(app, run.runId)).toMatchObject({
      status: 'cancelled',
      cancellation: {
        reason: 'enough',
        requestedBy: 'boss',
        signalSeq: 1,
        outcomes,
        remaining: [],
      },
    });
  });

  test('has nothing to do for calls that have a result, and for calls that never started', async () => {
    const seen: string[] = [];
    const started: string[] = [];
    const cleanup: Cleanup = ({ id }) => void seen.push(id);
    const asks = defineTool({
      name: 'asks',
      description: 'Asks.',
      input: Type.Object({ id: Type.String() }),
      effects: effects.writeState(),
      execute: () => 'never',
      cleanup,
    }) as unknown as Tool;
    const agent = agentWith([
      begins('returns', cleanup, { returns: true }),
      begins('hangs', cleanup, { started }),
      begins('plain', undefined),
      asks,
    ]);
    const app = await appOf(
      agent,
      [calls(['returns', 'a'], ['hangs', 'b'], ['plain', 'c'], ['asks', 'd'])],
      { store: memoryStore() },
    );
    const run = await app.start(agent, 'go');
    await until(async () => Number((await stateOf(app, run.runId)).counters['messages']) >= 3);
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    await run.result;
    expect(seen).toEqual(['b']);
  });

  test('cleans up for a call that waits: the run is cancelled where it stands', async () => {
    const seen: string[] = [];
    const waits = defineTool({
      name: 'waits',
      description: 'Waits.',
      input: Type.Object({ id: Type.String() }),
      effects: effects.writeState(),
      approval: 'not-required',
      execute: () => suspend({ kind: 'event', name: 'paid' }),
      cleanup: ({ id }) => void seen.push(id),
    }) as unknown as Tool;
    const agent = agentWith([waits]);
    const app = await appOf(agent, [calls(['waits', 'a'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await run.result;
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    await until(async () => (await stateOf(app, run.runId)).status === 'cancelled');
    expect(seen).toEqual(['a']);
    expect(resultsIn(app)).toEqual([]);
  });

  test('that throws makes the run failed, and the others still clean up', async () => {
    const seen: string[] = [];
    const started: string[] = [];
    const agent = agentWith([
      begins('bad', () => Promise.reject(new Error('it is stuck')), { started }),
      begins('good', ({ id }) => void seen.push(id), { started }),
    ]);
    const app = await appOf(agent, [calls(['bad', 'a'], ['good', 'b'])], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => started.length === 2);
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    expect(await run.result).toMatchObject({
      kind: 'failed',
      error: {
        code: 'CANCELLATION_CLEANUP_FAILED',
        message: expect.stringContaining(`${run.runId}.1.0: it is stuck`),
      },
    });
    expect(seen).toEqual(['b']);
    expect(await stateOf(app, run.runId)).toMatchObject({
      status: 'failed',
      transition: 'failed',
      reason: 'cancellation-cleanup-failed',
    });
  });

  test('that takes for ever has failed after 30 seconds, and is told to stop', async () => {
    const clock = fakeClock();
    const started: string[] = [];
    const told = gate<unknown>();
    const begun = gate();
    const agent = agentWith([
      begins(
        'stuck',
        (_input, tool) => {
          tool.signal.addEventListener('abort', () => told.open(tool.signal.reason));
          begun.open();
          return never;
        },
        { started },
      ),
    ]);
    const app = await appOf(agent, [calls(['stuck', 'a'])], {
      store: memoryStore({ clock }),
      provide: [bind(ClockPort, clock)],
    });
    const run = await app.start(agent, 'go');
    await until(() => started.length === 1);
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    await begun.promise;
    await clock.advance(30_000);
    expect(await told.promise).toMatchObject({ message: 'It did not end within 30000 ms.' });
    expect(await run.result).toMatchObject({ kind: 'failed' });
  });

  test('cleans up in a stateless run, too', async () => {
    const seen: string[] = [];
    const started: string[] = [];
    const control = new AbortController();
    const agent = defineAgent({
      name: 'stateless',
      tools: [begins('deploy', ({ id }) => void seen.push(id), { started })],
    });
    const app = await appOf(agent, [calls(['deploy', 'a'])]);
    const run = await app.start(agent, 'go', { signal: control.signal });
    await until(() => started.length === 1);
    control.abort();
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
    expect(seen).toEqual(['a']);
  });

  test('that a custom execute runs is cleaned up while it runs, and not after', async () => {
    const seen: string[] = [];
    const started: string[] = [];
    const cleanup: Cleanup = ({ id }) => void seen.push(id);
    const agent = defineAgent({
      name: 'custom',
      recovery: 'action-boundary',
      tools: [
        begins('returns', cleanup, { started, returns: true }),
        begins('hangs', cleanup, { started }),
      ],
      execute: async (_input, context) => {
        const { runTool } = runControls(context);
        await runTool({ name: 'returns', input: { id: 'a' } });
        await runTool({ name: 'hangs', input: { id: 'b' } });
        return 'never';
      },
    });
    const app = await appOf(agent, [], { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await until(() => started.length === 2);
    await app.runs.cancel(run.runId, undefined, app.local('boss'));
    expect(await run.result).toMatchObject({ kind: 'cancelled' });
    expect(seen).toEqual(['b']);
  });
});

describe('a crash while a run is cancelled', () => {
  const three = calls(['clean', 'a'], ['clean', 'b'], ['clean', 'c']);

  /** Cancelled in a process that dies by `fault`; `cleaned` are the cleanups of both. */
  async function crashed(
    fault: (commit: Commit) => Fault | undefined,
    more: { readonly hangsAt?: string; readonly agent?: (tool: Tool) => AgentDefinition } = {},
  ) {
    const { store, clock } = storeWithClock();
    const cleaned: string[] = [];
    const started: string[] = [];
    const tool = (hangsAt?: string): Tool =>
      begins(
        'clean',
        ({ id }) => {
          cleaned.push(id);
          return id === hangsAt ? never : undefined;
        },
        { started },
      );
    const agentOf = more.agent ?? ((one: Tool) => agentWith([one]));
    const dying = processOver(store, (commit) => fault(commit));
    const agent = agentOf(tool(more.hangsAt));
    const first = await appOf(agent, [three], { store: dying.store });
    const run = await first.start(agent, 'go');
    await until(() => started.length === 3);
    await first.runs.cancel(run.runId, 'enough', first.local('boss'));
    if (more.hangsAt === undefined) await dying.dead;
    else {
      await until(() => cleaned.includes(more.hangsAt as string));
      dying.kill();
    }
    await clock.advance(LEASE_OVER);
    return { store, clock, cleaned, runId: run.runId, agent: agentOf(tool()) };
  }

  const isCancelling = (commit: Commit): boolean => commit.runs[0]?.status === 'cancelling';
  const ended = (commit: Commit): number => commit.runs[0]?.cancellation?.outcomes.length ?? 0;

  async function finished(world: Awaited<ReturnType<typeof crashed>>, runId: RunId) {
    const app = await appOf(world.agent, [], { store: world.store });
    expect(await app.recover({ signal: NEVER })).toBe(1);
    return { app, state: await stateOf(app, runId), log: await logOf(app, runId) };
  }

  test('before the first cleanup: the next owner runs all of them, and knows who cancelled and why', async () => {
    const world = await crashed((commit) => (isCancelling(commit) ? 'die-after' : undefined));
    expect(world.cleaned).toEqual([]);
    const { app, state, log } = await finished(world, world.runId);
    expect(world.cleaned).toEqual(['a', 'b', 'c']);
    expect(state).toMatchObject({ status: 'cancelled', reason: 'cancellation-requested' });
    expect(eventsOf(log, 'run-finished')).toMatchObject([
      {
        outcome: { kind: 'cancelled', reason: 'enough', requestedBy: 'boss' },
        summary: {
          unknownEffects: [0, 1, 2].map((index) => `${world.runId}.1.${index}`),
        },
      },
    ]);
    expect(await reportIn(app, world.runId)).toMatchObject([
      { succeeded: true, reason: 'enough', requestedBy: 'boss', signalSeq: 1 },
    ]);
  });

  test('between two cleanups: the next owner runs the remaining ones, and both are in the report', async () => {
    const world = await crashed((commit) => (ended(commit) === 1 ? 'die-after' : undefined));
    expect(world.cleaned).toEqual(['a']);
    const { app, state } = await finished(world, world.runId);
    expect(world.cleaned).toEqual(['a', 'b', 'c']);
    expect(state).toMatchObject({ status: 'cancelled' });
    const [report] = await reportIn(app, world.runId);
    expect(report?.['outcomes']).toMatchObject(
      [0, 1, 2].map((index) => ({ targetRef: `${world.runId}.1.${index}`, status: 'succeeded' })),
    );
  });

  test('what is stored of a call is not what it was: it is not cleaned up with that, and the run says so', async () => {
    const world = await crashed((commit) => (isCancelling(commit) ? 'die-after' : undefined));
    const { records } = world.store;
    const load: DurableStore['records']['load'] = async (...given) => {
      const tree = await records.load(...given);
      if (tree === undefined) return tree;
      const forged = tree.calls.map((call) => ({ ...call, input: { plain: { id: 'stolen' } } }));
      return { ...tree, calls: forged };
    };
    const store = { ...world.store, records: { ...records, load } };
    const { state, app } = await finished({ ...world, store }, world.runId);
    expect(world.cleaned).toEqual([]);
    expect(state).toMatchObject({ status: 'failed', reason: 'cancellation-cleanup-failed' });
    const [report] = await reportIn(app, world.runId);
    expect(report?.['outcomes']).toMatchObject(
      [0, 1, 2].map(() => ({ status: 'failed', message: expect.stringContaining('digest') })),
    );
  });

  test('in a cleanup: it is run again, at least once is the promise', async () => {
    const world = await crashed(() => undefined, { hangsAt: 'b' });
    expect(world.cleaned).toEqual(['a', 'b']);
    const { state } = await finished(world, world.runId);
    expect(world.cleaned).toEqual(['a', 'b', 'b', 'c']);
    expect(state).toMatchObject({ status: 'cancelled' });
  });

  test('with a failed cleanup on record: the run ends as failed, whoever ends it', async () => {
    const { store, clock } = storeWithClock();
    const started: string[] = [];
    const tool = begins(
      'clean',
      ({ id }) => (id === 'a' ? Promise.reject(new Error('stuck')) : undefined),
      { started },
    );
    const agent = agentWith([tool]);
    const dying = processOver(store, (commit) => (ended(commit) === 1 ? 'die-after' : undefined));
    const first = await appOf(agent, [three], { store: dying.store });
    const run = await first.start(agent, 'go');
    await until(() => started.length === 3);
    await first.runs.cancel(run.runId, undefined, first.local('boss'));
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const app = await appOf(agent, [], { store });
    await app.recover({ signal: NEVER });
    expect(await stateOf(app, run.runId)).toMatchObject({
      status: 'failed',
      reason: 'cancellation-cleanup-failed',
    });
  });

  test('above the limit of deliveries the remaining cleanups are skipped, and the run ends', async () => {
    const world = await crashed(() => undefined, { hangsAt: 'a' });
    for (let lost = 0; lost < 5; lost += 1) {
      const dying = processOver(world.store, () => 'die-before');
      const app = await appOf(world.agent, [], { store: dying.store });
      app.recover({ signal: NEVER }).catch(() => undefined);
      await dying.dead;
      await world.clock.advance(LEASE_OVER);
    }
    world.cleaned.length = 0;
    const { app, state } = await finished(world, world.runId);
    expect(world.cleaned).toEqual([]);
    expect(state).toMatchObject({ status: 'cancelled' });
    const [report] = await reportIn(app, world.runId);
    expect(report).toMatchObject({ succeeded: true });
    expect(report?.['outcomes']).toMatchObject(
      ['skipped', 'skipped', 'skipped'].map((status) => ({
        status,
        message: 'Too many workers were lost over it.',
      })),
    );
  });

  test('the tools of a source clean up after a crash, too; a source that does not open holds up nothing', async () => {
    const opens = { count: 0, fails: false };
    const source = (tool: Tool) => ({
      id: 'things',
      open: async () => {
        opens.count += 1;
        if (opens.fails) throw new Error('not today');
        return { tools: [tool], close: async () => undefined };
      },
    });
    for (const fails of [false, true]) {
      opens.fails = false;
      const { store, clock } = storeWithClock();
      const cleaned: string[] = [];
      const started: string[] = [];
      const tool = begins('clean', ({ id }) => void cleaned.push(id), { started });
      const agent = defineAgent({
        name: 'worker',
        recovery: 'action-boundary',
        toolSources: ['things'],
      });
      const provide = [bind(ToolSource, source(tool))];
      const dying = processOver(store, (commit) =>
        isCancelling(commit) ? 'die-after' : undefined,
      );
      const first = await appOf(agent, [three], { store: dying.store, provide });
      const run = await first.start(agent, 'go');
      await until(() => started.length === 3);
      await first.runs.cancel(run.runId, undefined, first.local('boss'));
      await dying.dead;
      await clock.advance(LEASE_OVER);
      opens.fails = fails;
      const app = await appOf(agent, [], { store, provide });
      await app.recover({ signal: NEVER });
      expect(await stateOf(app, run.runId)).toMatchObject({ status: 'cancelled' });
      expect(cleaned).toEqual(fails ? [] : ['a', 'b', 'c']);
      const [report] = await reportIn(app, run.runId);
      expect(report?.['outcomes']).toMatchObject(
        [0, 1, 2].map(() => ({ status: fails ? 'skipped' : 'succeeded' })),
      );
    }
  });

  test('what only the dead process could have put in order is skipped, and said', async () => {
    const { store, clock } = storeWithClock();
    const begun = gate();
    const agent = defineAgent({
      name: 'custom',
      recovery: 'action-boundary',
      execute: async (_input, context: RunContext) => {
        runControls(context).onCancel({
          target: 'delegate-execution',
          targetRef: 'child',
          cleanup: async () => undefined,
        });
        begun.open();
        return never;
      },
    });
    const dying = processOver(store, (commit) => (isCancelling(commit) ? 'die-after' : undefined));
    const first = await appOf(agent, [], { store: dying.store });
    const run = await first.start(agent, 'go');
    await begun.promise;
    await first.runs.cancel(run.runId, undefined, first.local('boss'));
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const app = await appOf(agent, [], { store });
    await app.recover({ signal: NEVER });
    expect(await stateOf(app, run.runId)).toMatchObject({ status: 'cancelled' });
    expect(await reportIn(app, run.runId)).toMatchObject([
      {
        outcomes: [
          {
            targetRef: 'child',
            status: 'skipped',
            message: 'The process that could do it is gone.',
          },
        ],
      },
    ]);
  });
});

describe('while a run is cancelled', () => {
  async function cleaning(world: { readonly store: DurableStore; readonly clock?: FakeClock }) {
    const started: string[] = [];
    const begun = gate();
    const go = gate();
    const agent = agentWith([
      begins(
        'clean',
        async () => {
          begun.open();
          await go.promise;
        },
        { started },
      ),
    ]);
    const app = await appOf(agent, [calls(['clean', 'a'])], { store: world.store });
    const run = await app.start(agent, 'go');
    await until(() => started.length === 1);
    await app.runs.cancel(run.runId, 'first', app.local('boss'));
    await begun.promise;
    return { app, run, go, agent };
  }

  test('a second cancel, a pause and a resume change nothing', async () => {
    const { app, run, go } = await cleaning({ store: memoryStore() });
    await app.runs.cancel(run.runId, 'second', app.local('other'));
    for (const kind of ['pause', 'resume'] as const)
      await app.runs.signal(run.runId, { kind, payload: {} }, app.local('other'));
    expect(await stateOf(app, run.runId)).toMatchObject({
      status: 'cancelling',
      transition: 'cancelling',
      reason: 'cancellation-requested',
    });
    go.open();
    expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'first' });
  });

  test('an owner that loses the run in a cleanup stops, and writes nothing more', async () => {
    const world = storeWithClock();
    const { run, go, agent } = await cleaning(world);
    await world.clock.advance(LEASE_OVER);
    const other = await appOf(agent, [], { store: world.store });
    const recovering = other.recover({ signal: NEVER });
    go.open();
    await recovering;
    expect(await stateOf(other, run.runId)).toMatchObject({ status: 'cancelled' });
    const log = await logOf(other, run.runId);
    expect(eventsOf(log, 'run-finished')).toHaveLength(1);
  });
});
