import { describe, expect, test } from 'vitest';
import {
  type Commit,
  type DurableStore,
  defineAgent,
  type Reconciliation,
  type RunId,
  type RunTree,
  suspend,
  type ToolContext,
  verifyEvidence,
  type WaitId,
} from '../../src/index.ts';
import { memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  answer,
  appOf,
  calls,
  collected,
  effect,
  eventsOf,
  evidenceOf,
  type Fault,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  type Process,
  processOver,
  read,
  resultsIn,
  settled,
  storeWithClock,
  type TestApp,
  typesOf,
  until,
} from './harness.ts';

type Seen = { readonly key: string; readonly attempt: number; readonly fence: number };

function worker(
  extra: Parameters<typeof effect>[2] = {},
  options: { readonly isRead?: boolean; readonly hangs?: boolean } = {},
) {
  const seen: Seen[] = [];
  const hang = new Promise<string>(() => undefined);
  const body = ({ id }: { readonly id: string }, tool: ToolContext<unknown>): unknown => {
    const { idempotencyKey, attempt, fence } = tool.call;
    seen.push({ key: idempotencyKey, attempt, fence });
    return options.hangs === true && seen.length === 1 ? hang : `did ${id}`;
  };
  const agent = defineAgent({
    name: 'worker',
    recovery: 'action-boundary',
    accepts: ['user-message'],
    tools: [options.isRead === true ? read('do', body, extra) : effect('do', body, extra)],
  });
  return { agent, seen };
}

type Dying = (commit: Commit, count: number) => Fault | undefined;

/** Starts a run in a process that dies by `fault`, and goes on with it in another one. */
async function afterCrash(
  agent: Parameters<typeof appOf>[0],
  options: {
    readonly before: readonly ScriptStep[];
    readonly after: readonly ScriptStep[];
    readonly fault: Dying;
    readonly during?: (first: Process, app: TestApp) => Promise<void>;
  },
) {
  const { store, clock } = storeWithClock();
  const dying = processOver(store, options.fault);
  const first = await appOf(agent, options.before, { store: dying.store });
  const run = await first.runs.start('worker', { message: 'go' }, first.local('me'));
  await options.during?.(dying, first);
  await dying.dead;
  const second = await appOf(agent, options.after, { store });
  expect(await second.recover({ signal: NEVER })).toBe(0);
  await clock.advance(LEASE_OVER);
  expect(await second.recover({ signal: NEVER })).toBe(1);
  const state = await second.runs.get(run.runId, second.local('me'));
  return {
    app: second,
    runId: run.runId,
    state,
    store,
    clock,
    log: await logOf(second, run.runId),
  };
}

const hasResults = (commit: Commit): boolean =>
  commit.messages?.some(({ message }) => 'plain' in message && message.plain.role === 'tool') ===
  true;
const onFirst =
  (what: Fault): Dying =>
  (_commit, count) =>
    count === 1 ? what : undefined;
const onResults =
  (what: Fault): Dying =>
  (commit) =>
    hasResults(commit) ? what : undefined;

describe('a crash', () => {
  test('after create, before the model: the next owner calls the model', async () => {
    const { store, clock } = storeWithClock();
    const never = gate();
    const dying = processOver(store);
    const { agent } = worker();
    const first = await appOf(agent, [{ until: never.promise }], { store: dying.store });
    const run = await first.start(agent, 'go');
    await until(() => first.model.requests.length === 1);
    dying.kill();
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, [{ text: 'Hello.' }], { store });
    expect(await second.recover({ signal: NEVER })).toBe(1);
    const log = await logOf(second, run.runId);
    expect(eventsOf(log, 'rewound')).toMatchObject([{ steps: [], reason: 'owner-changed' }]);
    expect(eventsOf(log, 'run-finished')).toMatchObject([{ outcome: { text: 'Hello.' } }]);
    expect(second.model.requests[0]?.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', parts: [{ text: 'go' }] },
    ]);
  });

  test('in the model stream: what was shown is rewound, and the step that is asked again has another id', async () => {
    const { store, clock } = storeWithClock();
    const dying = processOver(store);
    const { agent } = worker();
    const never = gate();
    const model: ScriptStep[] = [{ text: ['Hel', 'lo'], until: Promise.resolve() }];
    const first = await appOf(agent, model, {
      store: processOver(dying.store, async (commit) => {
        if (commit.progress) await never.promise;
        return undefined;
      }).store,
    });
    const run = await first.start(agent, 'go');
    const shown: string[] = [];
    for await (const { event } of run.events()) {
      if (event.type === 'step-started') shown.push(event.stepId);
      if (event.type === 'message-delta') shown.push(event.delta);
      if (shown.length === 3) break;
    }
    dying.kill();
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, [{ text: 'Hello again.' }], { store });
    await second.recover({ signal: NEVER });
    const log = await logOf(second, run.runId);
    expect(shown).toEqual([`${run.runId}.s1`, 'Hel', 'lo']);
    expect(eventsOf(log, 'step-started').map(({ stepId }) => stepId)).toEqual([`${run.runId}.s2`]);
    const [rewound] = eventsOf(log, 'rewound');
    expect(rewound?.after).toBeLessThan(log.at(-1)?.seq ?? 0);
    expect(eventsOf(log, 'message-delta').map(({ delta }) => delta)).toEqual(['Hello again.']);
  });

  test('model answered, before its commit: the model is asked again', async () => {
    const { agent, seen } = worker();
    const { app, state } = await afterCrash(agent, {
      before: [calls(['do', 'a'])],
      after: [{ text: 'Another answer.' }],
      fault: onFirst('die-before'),
    });
    expect(state).toMatchObject({ status: 'completed' });
    expect(seen).toEqual([]);
    expect(app.model.requests).toHaveLength(1);
  });

  test('after the answer’s commit, before dispatch: a read runs', async () => {
    const { agent, seen } = worker({}, { isRead: true });
    const { app, state, log } = await afterCrash(agent, {
      before: [calls(['do', 'a'])],
      after: [{ text: 'Done.' }],
      fault: onFirst('die-after'),
    });
    expect(state).toMatchObject({ status: 'completed' });
    expect(seen).toMatchObject([{ attempt: 2, fence: 2 }]);
    expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'did a' }]);
    expect(typesOf(log)).toContain('run-resumed');
  });

  test('a read done before its commit is done again, without a commit of its own', async () => {
    const { agent, seen } = worker({}, { isRead: true });
    const { store, clock } = storeWithClock();
    const dying = processOver(store, onResults('die-before'));
    const first = await appOf(agent, [calls(['do', 'a'])], { store: dying.store });
    await first.start(agent, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const second = processOver(store);
    const app = await appOf(agent, [{ text: 'Done.' }], { store: second.store });
    await app.recover({ signal: NEVER });
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(second.sent).toHaveLength(2);
  });

  test('an idempotent effect done before its commit is repeated with the same key, after a commit of the intent', async () => {
    const { agent, seen } = worker({ idempotency: 'idempotent' });
    const { store, clock } = storeWithClock();
    const dying = processOver(store, onResults('die-before'));
    const first = await appOf(agent, [calls(['do', 'a'])], { store: dying.store });
    await first.start(agent, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const intents: number[] = [];
    const second = processOver(store, (commit) => {
      for (const { stage, attempt } of commit.calls ?? []) {
        if (stage === 'started') intents.push(attempt, seen.length);
      }
      return undefined;
    });
    const app = await appOf(agent, [{ text: 'Done.' }], { store: second.store });
    await app.recover({ signal: NEVER });
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    expect(intents).toEqual([2, 1]);
  });

  test('a new owner that dies after it committed the repeat: the attempt goes up again', async () => {
    const { agent, seen } = worker({ idempotency: 'idempotent' }, { hangs: true });
    const { store, clock } = storeWithClock();
    const first = processOver(store);
    const app1 = await appOf(agent, [calls(['do', 'a'])], { store: first.store });
    await app1.start(agent, 'go');
    await until(() => seen.length === 1);
    first.kill();
    await clock.advance(LEASE_OVER);
    const second = processOver(store, (commit) =>
      commit.calls?.some(({ attempt }) => attempt === 2) === true ? 'die-after' : undefined,
    );
    const app2 = await appOf(agent, [], { store: second.store });
    void app2.recover({ signal: NEVER });
    await second.dead;
    await clock.advance(LEASE_OVER);
    const app3 = await appOf(agent, [{ text: 'Done.' }], { store });
    await app3.recover({ signal: NEVER });
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 3]);
  });

  describe('with an unsafe effect done before its commit', () => {
    const crashed = async (decision: Parameters<typeof answer>[2]) => {
      const { agent, seen } = worker();
      const got = await afterCrash(agent, {
        before: [calls(['do', 'a'])],
        after: [{ text: 'Done.' }],
        fault: onResults('die-before'),
      });
      expect(got.state).toMatchObject({
        status: 'interrupted',
        reason: 'recovery-requires-hitl',
      });
      const waits = await got.app.runs.waits({ status: 'pending' }, got.app.local('me'));
      expect(waits.items).toMatchObject([
        {
          kind: 'recovery',
          allowed: ['happened', 'did-not-happen', 'abandon', 'cancel'],
          prompt: { tool: 'do', arguments: { id: 'a' }, attempt: 1, hint: expect.any(String) },
        },
      ]);
      expect(eventsOf(got.log, 'tool-call-result')).toEqual([]);
      await answer(got.app, got.runId, decision);
      const handle = await got.app.runs.resume(got.runId, got.app.local('me'));
      const result = await handle.result;
      return { ...got, seen, result };
    };

    test('a person says that it happened, with this result', async () => {
      const { app, seen, result } = await crashed({ decision: 'happened', result: 'it did' });
      expect(result).toMatchObject({ kind: 'completed' });
      expect(seen).toHaveLength(1);
      expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'it did' }]);
    });

    test('a person says that it did not happen: it runs once more, under the next attempt', async () => {
      const { app, seen } = await crashed({ decision: 'did-not-happen' });
      expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'did a' }]);
    });

    test('a person abandons it: the model reads that it is not known', async () => {
      const { app, seen } = await crashed({ decision: 'abandon' });
      expect(seen).toHaveLength(1);
      expect(resultsIn(app)).toEqual([
        { outcome: 'interrupted', text: expect.stringContaining('not known') },
      ]);
    });

    test('a person cancels: the result names the effect that nobody knows of', async () => {
      const { seen, result, runId } = await crashed({ decision: 'cancel' });
      expect(result).toMatchObject({ kind: 'cancelled', unknownEffects: [`${runId}.1.0`] });
      expect(seen).toHaveLength(1);
    });
  });

  describe('with an effect that can be reconciled', () => {
    const reconciled = async (reconcile: () => Promise<Reconciliation>) => {
      const { agent, seen } = worker({ reconcile });
      const got = await afterCrash(agent, {
        before: [calls(['do', 'a'])],
        after: [{ text: 'Done.' }],
        fault: onResults('die-before'),
      });
      return { ...got, seen };
    };

    test('the probe finds its result: nothing runs again', async () => {
      const { app, seen, state } = await reconciled(async () => ({
        kind: 'committed',
        result: { found: true },
      }));
      expect(state).toMatchObject({ status: 'completed' });
      expect(seen).toHaveLength(1);
      expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: '{"found":true}' }]);
    });

    test('the probe says that it was not started: it runs', async () => {
      const { seen, state } = await reconciled(async () => ({ kind: 'not-started' }));
      expect(state).toMatchObject({ status: 'completed' });
      expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    });

    test.each([
      ['does not know', async (): Promise<Reconciliation> => ({ kind: 'unknown' })],
      [
        'fails',
        async (): Promise<Reconciliation> => {
          throw new Error('no connection');
        },
      ],
      [
        'fails with something that is no error',
        async (): Promise<Reconciliation> => {
          throw 'no connection';
        },
      ],
      [
        'finds something that is no JSON',
        async (): Promise<Reconciliation> => ({ kind: 'committed', result: () => 1 }),
      ],
    ])('the probe %s: a person is asked', async (_, reconcile) => {
      const { app, runId, seen, state } = await reconciled(reconcile);
      expect(state).toMatchObject({ status: 'interrupted', reason: 'recovery-requires-hitl' });
      expect(seen).toHaveLength(1);
      await answer(app, runId, { decision: 'happened', result: null });
      expect(await (await app.runs.resume(runId, app.local('me'))).result).toMatchObject({
        kind: 'completed',
      });
      const rows = await evidenceOf(app, runId);
      expect(verifyEvidence(rows)).toBeUndefined();
    });
  });

  test('result committed, not shown: readers get it from the log', async () => {
    const { agent } = worker();
    const { log, app, runId } = await afterCrash(agent, {
      before: [calls(['do', 'a'])],
      after: [{ text: 'Done.' }],
      fault: onResults('die-after'),
    });
    expect(eventsOf(log, 'tool-call-result')).toMatchObject([{ outcome: 'ok' }]);
    expect(app.model.requests).toHaveLength(1);
    expect(resultsIn(app)).toEqual([{ outcome: 'ok', text: 'did a' }]);
    expect(eventsOf(log, 'run-finished')).toHaveLength(1);
    expect((await logOf(app, runId)).map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
  });

  test('waits committed, not shown: they are listed as pending, and the handle shows the pause once', async () => {
    const { agent, seen } = worker({ approval: 'required' });
    const { store } = storeWithClock();
    const dying = processOver(store, onFirst('die-after'));
    const first = await appOf(agent, [calls(['do', 'a'])], { store: dying.store });
    const run = await first.start(agent, 'go');
    await dying.dead;
    const second = await appOf(agent, [{ text: 'Done.' }], { store });
    expect((await second.runs.waits({ status: 'pending' }, second.local('me'))).items).toHaveLength(
      1,
    );
    const joined = await second.attach(agent, run.runId);
    expect(await joined.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'approval' }] });
    expect(eventsOf(await logOf(second, run.runId), 'run-paused')).toHaveLength(1);
    await answer(second, run.runId, { decision: 'approve' });
    await (await second.attach(agent, run.runId)).result;
    expect(seen).toHaveLength(1);
  });

  test('resolved, before consumption: the next owner acts on the answer', async () => {
    const { agent, seen } = worker({ approval: 'required' });
    const { store, clock } = storeWithClock();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    await first.close();
    const dying = processOver(store, onFirst('die-before'));
    const second = await appOf(agent, [], { store: dying.store });
    await answer(second, run.runId, { decision: 'approve' });
    await dying.dead;
    expect(seen).toEqual([]);
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [{ text: 'Done.' }], { store });
    expect(await third.recover({ signal: NEVER })).toBe(1);
    expect(seen).toMatchObject([{ attempt: 1 }]);
    expect(await third.runs.get(run.runId, third.local('me'))).toMatchObject({
      status: 'completed',
    });
  });

  test('used and started, before the effect: the ledger decides, the approval is not asked again', async () => {
    const { agent, seen } = worker({ approval: 'required' });
    const { store, clock } = storeWithClock();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    const dying = processOver(store, onFirst('die-after'));
    const second = await appOf(agent, [], { store: dying.store });
    await answer(second, run.runId, { decision: 'modify', input: { id: 'b' } });
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [{ text: 'Done.' }], { store });
    await third.recover({ signal: NEVER });
    const { items } = await third.runs.waits({ status: 'pending' }, third.local('me'));
    expect(items).toMatchObject([{ kind: 'recovery', prompt: { arguments: { id: 'b' } } }]);
    await answer(third, run.runId, { decision: 'did-not-happen' });
    await (await third.attach(agent, run.runId)).result;
    expect(seen).toMatchObject([{ attempt: 2 }]);
    expect(resultsIn(third)).toEqual([
      { outcome: 'ok', text: '[ran with arguments edited by a person: {"id":"b"}]|did b' },
    ]);
  });

  test('terminal commit, not shown: readers get the end from the log, and there is no second one', async () => {
    const { agent } = worker();
    const { store, clock } = storeWithClock();
    const dying = processOver(store, onFirst('die-after'));
    const first = await appOf(agent, [{ text: 'Hello.' }], { store: dying.store });
    const run = await first.start(agent, 'go');
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const second = await appOf(agent, [], { store });
    expect(await second.recover({ signal: NEVER })).toBe(0);
    const joined = await second.attach(agent, run.runId);
    expect(await joined.result).toMatchObject({ kind: 'completed', text: 'Hello.' });
    expect(eventsOf(await logOf(second, run.runId), 'run-finished')).toHaveLength(1);
  });

  test('in cancelling: the next owner ends the cancellation', async () => {
    const { agent, seen } = worker({ approval: 'required' });
    const { store, clock } = storeWithClock();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    const dying = processOver(store, (commit) =>
      commit.runs[0]?.status === 'cancelling' ? 'die-after' : undefined,
    );
    const second = await appOf(agent, [], { store: dying.store });
    await second.runs.cancel(run.runId, 'enough', second.local('me'));
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [], { store });
    expect(await third.recover({ signal: NEVER })).toBe(1);
    expect(await third.runs.get(run.runId, third.local('me'))).toMatchObject({
      status: 'cancelled',
    });
    expect(eventsOf(await logOf(third, run.runId), 'run-finished')).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  test('behind unreadable arguments: they are refused again, and never run as if they were empty (C31)', async () => {
    const ran: unknown[] = [];
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [read('do', () => 'read'), effect('other', () => ran.push('other'))],
    });
    const { app, state } = await afterCrash(agent, {
      before: [{ calls: [{ name: 'other', input: '{"id":"x","text":"cut' }] }],
      after: [{ text: 'Sorry.' }],
      fault: onFirst('die-after'),
    });
    expect(state).toMatchObject({ status: 'completed' });
    expect(ran).toEqual([]);
    expect(resultsIn(app)).toEqual([
      { outcome: 'error', text: expect.stringContaining('not complete, valid JSON') },
    ]);
  });

  test('behind refusals: unknown tools and missing permissions are refused again', async () => {
    const { agent } = worker({ permissions: ['x'] });
    const { app, state } = await afterCrash(agent, {
      before: [calls(['nothing', 'a'], ['do', 'b'])],
      after: [{ text: 'Sorry.' }],
      fault: onFirst('die-after'),
    });
    expect(state).toMatchObject({ status: 'completed' });
    expect(resultsIn(app).map(({ outcome }) => outcome)).toEqual(['error', 'denied']);
  });

  test('with an effect that was authorised and stood behind another: it runs in its turn', async () => {
    const order: string[] = [];
    const hang = new Promise<string>(() => undefined);
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [
        effect(
          'do',
          ({ id }, tool) => {
            order.push(`${id}${tool.call.attempt}`);
            return order.length === 1 ? hang : id;
          },
          { idempotency: 'idempotent' },
        ),
      ],
    });
    const { app } = await afterCrash(agent, {
      before: [calls(['do', 'a'], ['do', 'b'])],
      after: [{ text: 'Done.' }],
      fault: () => undefined,
      during: async (first) => {
        await until(() => order.length === 1);
        first.kill();
      },
    });
    expect(order).toEqual(['a1', 'a2', 'b1']);
    expect(resultsIn(app).map(({ text }) => text)).toEqual(['a', 'b']);
  });

  test('with one result of two stored: only the other call runs', async () => {
    const ran: string[] = [];
    const slow = gate<string>();
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [
        read('do', ({ id }) => {
          ran.push(id);
          return id === 'slow' && ran.length < 3 ? slow.promise : id;
        }),
      ],
    });
    const { app, log } = await afterCrash(agent, {
      before: [calls(['do', 'slow'], ['do', 'fast'])],
      after: [{ text: 'Done.' }],
      fault: onResults('die-after'),
    });
    expect(ran).toEqual(['slow', 'fast', 'slow']);
    expect(resultsIn(app).map(({ text }) => text)).toEqual(['slow', 'fast']);
    expect(eventsOf(log, 'tool-call-result')).toHaveLength(2);
  });

  test('of a suspended call that was going on: the repeat is told the same answer', async () => {
    const told: unknown[] = [];
    const agent = defineAgent({
      name: 'worker',
      recovery: 'action-boundary',
      tools: [
        effect('do', () => suspend({ kind: 'input', message: '?', schema: {}, carry: 'kept' }), {
          resume: (_input: unknown, carried: unknown) => {
            told.push(carried);
            return 'went on';
          },
        }),
      ],
    });
    const { store, clock } = storeWithClock();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    const dying = processOver(store, onResults('die-before'));
    const second = await appOf(agent, [], { store: dying.store });
    await answer(second, run.runId, { decision: 'answer', value: 42 });
    await dying.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [{ text: 'Done.' }], { store });
    await third.recover({ signal: NEVER });
    await answer(third, run.runId, { decision: 'did-not-happen' });
    await (await third.attach(agent, run.runId)).result;
    const carried = { carry: 'kept', resolution: { kind: 'resolved', value: 42 } };
    expect(told).toEqual([carried, carried]);
    expect(resultsIn(third)).toEqual([{ outcome: 'ok', text: 'went on' }]);
  });
});

describe('a commit whose answer is lost', () => {
  test.each(['lose-answer', 'lose-request'] as const)(
    'is sent again unchanged, under its own id (%s)',
    async (fault) => {
      const { agent, seen } = worker();
      const process = processOver(memoryStore(), (_commit, count) =>
        count === 1 || count === 2 || count === 4 ? fault : undefined,
      );
      const app = await appOf(agent, [calls(['do', 'a']), { text: 'Done.' }], {
        store: process.store,
      });
      const run = await app.start(agent, 'go');
      expect(await run.result).toMatchObject({ kind: 'completed' });
      expect(seen).toHaveLength(1);
      const ids = process.sent.map(({ commitId }) => commitId.split('/').at(-1));
      expect(ids).toEqual(['1', '1', '1', '2', '2', '3']);
      expect(process.sent[1]).toBe(process.sent[0]);
      expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toHaveLength(1);
    },
  );

  test('an error of the store that does not go away by sending again loses the run, and says so', async () => {
    const { agent } = worker();
    const process = processOver(memoryStore(), () => {
      throw new Error('disk full');
    });
    const app = await appOf(agent, [{ text: 'Hello.' }], { store: process.store });
    const run = await app.start(agent, 'go');
    await expect(run.result).rejects.toThrow('disk full');
  });
});

describe('an owner that was superseded', () => {
  const superseded = async (
    when: (commit: Commit) => boolean,
    store: DurableStore,
    wake: () => Promise<void>,
  ) =>
    processOver(store, async (commit) => {
      if (when(commit)) await wake();
      return undefined;
    });

  test('stops silently, shows nothing more, and its handle follows the log to the end (C22)', async () => {
    const { store, clock } = storeWithClock();
    const { agent, seen } = worker({}, { isRead: true });
    let second: TestApp | undefined;
    let woken = false;
    const old = await superseded(hasResults, store, async () => {
      if (woken) return;
      woken = true;
      await clock.advance(LEASE_OVER);
      second = await appOf(agent, [{ text: 'The second owner’s.' }], { store });
      await second.recover({ signal: NEVER });
    });
    const first = await appOf(agent, [calls(['do', 'a'])], { store: old.store });
    const run = await first.start(agent, 'go');
    const shown = await collected(run.events());
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'The second owner’s.' });
    expect(seen).toHaveLength(2);
    const log = await logOf(first, run.runId);
    const settledEvents = (envelopes: typeof log) =>
      envelopes.filter(({ event }) => event.type === 'tool-call-result').map(({ seq }) => seq);
    expect(settledEvents(shown)).toEqual(settledEvents(log));
    expect(shown.map(({ seq }) => seq)).toEqual(
      [...new Set(shown.map(({ seq }) => seq))].sort((a, b) => a - b),
    );
    expect(eventsOf(shown, 'rewound')).toHaveLength(1);
    expect(eventsOf(shown, 'run-finished')).toHaveLength(1);
    await settled();
    expect(first.model.requests).toHaveLength(1);
  });
});

describe('message ∥ end', () => {
  test('a message that comes while the end is stored is read first, and the run goes on', async () => {
    const { agent } = worker();
    const store = memoryStore();
    let app: TestApp | undefined;
    let runId: Parameters<TestApp['runs']['signal']>[0] | undefined;
    let sent = false;
    const process = processOver(store, async (commit) => {
      if (commit.closeInbox === undefined || sent || app === undefined || runId === undefined)
        return undefined;
      sent = true;
      await store.inbox.append(
        runId,
        { kind: 'user-message', payload: { text: 'One more thing.' }, dedupeKey: 'm1' },
        { signal: NEVER },
      );
      return undefined;
    });
    const begin = gate();
    app = await appOf(agent, [{ text: 'First.', until: begin.promise }, { text: 'Second.' }], {
      store: process.store,
    });
    const run = await app.start(agent, 'go');
    runId = run.runId;
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'Second.' });
    expect(app.model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    expect(eventsOf(await logOf(app, run.runId), 'run-finished')).toHaveLength(1);
  });

  test('a signal that is no message does not make the model answer again', async () => {
    const { agent } = worker();
    const store = memoryStore();
    let runId: Parameters<TestApp['runs']['signal']>[0] | undefined;
    const process = processOver(store, async (commit, count) => {
      if (commit.closeInbox === undefined || runId === undefined || count > 1) return undefined;
      await store.inbox.append(
        runId,
        { kind: 'scheduler-wake-up', payload: {}, dedupeKey: 'w1' },
        { signal: NEVER },
      );
      return undefined;
    });
    const begin = gate();
    const app = await appOf(agent, [{ text: 'First.', until: begin.promise }], {
      store: process.store,
    });
    const run = await app.start(agent, 'go');
    runId = run.runId;
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'First.' });
    expect(process.sent).toHaveLength(2);
  });
});

test('a run keeps its evidence in a chain that verifies over a pause and a crash', async () => {
  const { agent } = worker({ approval: 'required' });
  const store = memoryStore();
  const first = await appOf(agent, [calls(['do', 'a'])], { store });
  const run = await first.start(agent, 'go');
  await run.result;
  await first.close();
  const second = await appOf(agent, [{ text: 'Done.' }], { store });
  await answer(second, run.runId, { decision: 'approve' });
  await (await second.attach(agent, run.runId)).result;
  const rows = await evidenceOf(second, run.runId);
  expect(verifyEvidence(rows)).toBeUndefined();
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
});

/** A person agrees that the run goes on under the definition that it is taken up with. */
async function agreed(app: TestApp, runId: RunId): Promise<void> {
  const caller = app.local('operator');
  const asked = async () =>
    (await app.runs.waits({ runId, status: 'pending' }, caller)).items.find(
      ({ callId }) => callId === undefined,
    );
  await until(async () => (await asked()) !== undefined);
  await app.runs.resolve((await asked())?.id as WaitId, { decision: 'approve' }, caller);
}

describe('a tool that is gone when the run goes on, and a person agreed to go on without it', () => {
  const gone = defineAgent({ name: 'worker', recovery: 'action-boundary' });

  test('is told to the model, whatever had been decided about its call', async () => {
    const { agent, seen } = worker({ approval: 'required' });
    const store = memoryStore();
    const first = await appOf(agent, [calls(['do', 'a'], ['do', 'b'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    await first.close();
    const second = await appOf(gone, [{ text: 'Sorry.' }], { store });
    await answer(second, run.runId, { decision: 'approve' }, { decision: 'reject' });
    await agreed(second, run.runId);
    await until(
      async () => (await second.runs.get(run.runId, second.local('me'))).status === 'completed',
    );
    expect(seen).toEqual([]);
    expect(resultsIn(second).map(({ outcome }) => outcome)).toEqual(['error', 'denied']);
  });

  test('an edit of its arguments is asked about again, with what is wrong', async () => {
    const { agent } = worker({ approval: 'required' });
    const store = memoryStore();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, 'go');
    await run.result;
    await first.close();
    const second = await appOf(gone, [], { store });
    await answer(second, run.runId, { decision: 'modify', input: { id: 'b' } });
    await agreed(second, run.runId);
    expect(await (await second.attach(gone, run.runId)).result).toMatchObject({
      kind: 'paused',
      waits: [{ prompt: { problems: ['the tool is gone'] } }],
    });
  });

  test('its effect that would be repeated is told to the model, too', async () => {
    const { agent, seen } = worker({ idempotency: 'idempotent' }, { hangs: true });
    const { store, clock } = storeWithClock();
    const first = processOver(store);
    const app1 = await appOf(agent, [calls(['do', 'a'])], { store: first.store });
    const run = await app1.start(agent, 'go');
    await until(() => seen.length === 1);
    first.kill();
    await clock.advance(LEASE_OVER);
    const second = await appOf(gone, [{ text: 'Sorry.' }], { store });
    await second.recover({ signal: NEVER });
    await agreed(second, run.runId);
    await until(
      async () => (await second.runs.get(run.runId, second.local('me'))).status === 'completed',
    );
    expect(resultsIn(second)).toMatchObject([{ outcome: 'error' }]);
  });
});

describe('a record that does not fit', () => {
  const altered = async (change: (tree: RunTree) => RunTree | undefined) => {
    const { agent } = worker({ approval: 'required' });
    const store = memoryStore();
    const first = await appOf(agent, [calls(['do', 'a'])], { store });
    const run = await first.start(agent, { message: [{ type: 'text', text: 'go' }] });
    await run.result;
    let claimed = false;
    const second = await appOf(agent, [{ text: 'Done.' }], {
      store: {
        ...store,
        ownership: {
          ...store.ownership,
          claim: (...given) => {
            claimed = true;
            return store.ownership.claim(...given);
          },
        },
        records: {
          ...store.records,
          load: async (...given) => {
            const tree = await store.records.load(...given);
            return claimed && tree !== undefined ? change(tree) : tree;
          },
        },
      },
    });
    await answer(second, run.runId, { decision: 'approve' });
  };

  test('is refused with an error that says what is wrong with it', async () => {
    await expect(altered(() => undefined)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(altered((tree) => ({ ...tree, format: 99 }))).rejects.toMatchObject({
      code: 'FORMAT_UNKNOWN',
      message: expect.stringContaining('99'),
    });
    await expect(altered((tree) => ({ ...tree, runs: [] }))).rejects.toMatchObject({
      code: 'RECORD_CORRUPT',
      message: expect.stringContaining('missing'),
    });
    await expect(
      altered((tree) => ({
        ...tree,
        runs: tree.runs.map((run) => ({ ...run, status: 'completed' })),
      })),
    ).rejects.toMatchObject({
      code: 'RECORD_CORRUPT',
      message: expect.stringContaining('completed'),
    });
    await altered((tree) => tree);
  });
});

test('an unsafe effect in doubt whose tool is gone is asked about with what may be shown', async () => {
  const gone = defineAgent({ name: 'worker', recovery: 'action-boundary' });
  const { agent, seen } = worker({}, { hangs: true });
  const { store, clock } = storeWithClock();
  const first = processOver(store);
  const app1 = await appOf(agent, [calls(['do', 'a'])], { store: first.store });
  const run = await app1.start(agent, 'go');
  await until(() => seen.length === 1);
  first.kill();
  await clock.advance(LEASE_OVER);
  const second = await appOf(gone, [], { store });
  await second.recover({ signal: NEVER });
  await agreed(second, run.runId);
  await until(
    async () =>
      (await second.runs.get(run.runId, second.local('me'))).reason === 'recovery-requires-hitl',
  );
  expect((await second.runs.waits({ status: 'pending' }, second.local('me'))).items).toMatchObject([
    { kind: 'recovery', prompt: { tool: 'do', attempt: 1 } },
  ]);
});

test('closing an application stops its runs at once; another process goes on', async () => {
  const { agent, seen } = worker({ idempotency: 'idempotent' }, { hangs: true });
  const { store, clock } = storeWithClock();
  const first = await appOf(agent, [calls(['do', 'a'])], { store });
  const run = await first.start(agent, 'go');
  run.result.catch(() => undefined);
  await until(() => seen.length === 1);
  await first.close();
  await clock.advance(LEASE_OVER);
  const second = await appOf(agent, [{ text: 'Done.' }], { store });
  expect(await second.recover({ signal: NEVER })).toBe(1);
  expect(await second.runs.get(run.runId, second.local('me'))).toMatchObject({
    status: 'completed',
  });
});
