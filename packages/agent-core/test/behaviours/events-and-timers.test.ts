import { describe, expect, test } from 'vitest';
import {
  type AgentSpec,
  bind,
  type DurableStore,
  defineAgent,
  type JsonObject,
  type Needs,
  type Resolution,
  type RunId,
  Sealer,
  type SignalKind,
  suspend,
  type WaitFor,
} from '../../src/index.ts';
import { fakeClock, memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  effect,
  eventsOf,
  evidenceOf,
  gate,
  LEASE_OVER,
  logOf,
  NEVER,
  processOver,
  read,
  settled,
  storeWithClock,
  type TestApp,
  toySealer,
  until,
  withClock,
} from './harness.ts';

const EVENTS = 'hexagent/events';
const steps: readonly ScriptStep[] = [calls(['pay', 'a']), { text: 'Paid.' }];

/** An agent whose tool waits, and what the tool was told in the end. */
function waitingFor(
  wait: WaitFor | readonly WaitFor[],
  signals: AgentSpec<Needs, undefined>['signals'] = {},
) {
  const told: Resolution[] = [];
  const waits = [wait].flat();
  const hold = gate<string>();
  const agent = defineAgent({
    name: 'shop',
    recovery: 'action-boundary',
    accepts: ['external-event', 'scheduler-wake-up', 'user-message', 'cancel', 'pause', 'resume'],
    signals,
    tools: [
      effect('pay', () => suspend(waits[0] as WaitFor), {
        resume: (_input, { resolution }) => {
          told.push(resolution);
          const next = waits[told.length];
          return next === undefined ? 'paid' : suspend(next);
        },
      }),
      read('look', () => hold.promise),
    ],
  });
  return { agent, told, hold };
}

const paid: WaitFor = { kind: 'event', name: 'paid' };

const send = (app: TestApp, runId: RunId, kind: SignalKind, payload: JsonObject = {}) =>
  app.runs.signal(runId, { kind, payload }, app.local('webhook'));

const event = (app: TestApp, runId: RunId, value: string, name = 'paid') =>
  send(app, runId, 'external-event', { name, value });

const resolved = (value: string | null) => ({ kind: 'resolved', value });

const kept = async (store: DurableStore) =>
  (await store.values.list({ namespace: EVENTS, tenantId: 'local', limit: 100, signal: NEVER }))
    .items;

describe('an event that comes before its wait', () => {
  test('is handed to the wait when that is opened, and is kept no longer', async () => {
    const { agent, told } = waitingFor(paid);
    const store = memoryStore();
    const begin = gate();
    const [first, last] = steps as readonly [ScriptStep, ScriptStep];
    const app = await appOf(agent, [{ ...first, until: begin.promise }, last], { store });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    await event(app, run.runId, 'early');
    begin.open();
    expect(await run.result).toMatchObject({ kind: 'completed', text: 'Paid.' });
    expect(told).toEqual([resolved('early')]);
    expect(await kept(store)).toEqual([]);
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'run-paused')).toEqual([]);
    expect(eventsOf(log, 'wait-closed').map(({ wait }) => [wait.status, wait.resolvedBy])).toEqual([
      ['used', 'external-event:1'],
    ]);
  });

  test('is kept over a pause and a crash, sealed, in the commit that takes its signal off the inbox', async () => {
    const { store, clock } = storeWithClock();
    const { agent, told, hold } = waitingFor(paid);
    const provide = [bind(Sealer, toySealer), ...withClock(clock)];
    const process = processOver(store);
    const first = await appOf(agent, [calls(['look', 'x']), ...steps], {
      store: process.store,
      provide,
    });
    const run = await first.start(agent, 'go');
    for await (const { event: shown } of run.events())
      if (shown.type === 'step-started' && shown.kind === 'tool') break;
    await event(first, run.runId, 'early');
    await send(first, run.runId, 'pause');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [] });
    process.kill();
    const [value] = await kept(store);
    expect(value?.key).toMatch(new RegExp(`^${run.runId}/0+1$`));
    expect(JSON.stringify(value)).not.toContain('early');
    const writing = process.sent.filter(({ values = [] }) => values.length > 0);
    expect(writing.map(({ consume, values }) => [consume, values?.length])).toEqual([[[1, 2], 1]]);

    const second = await appOf(agent, steps, { store, provide });
    await send(second, run.runId, 'resume');
    expect(await (await second.attach(agent, run.runId)).result).toMatchObject({
      kind: 'completed',
    });
    expect(told).toEqual([resolved('early')]);
    expect(await kept(store)).toEqual([]);
  });

  test('is not lost when it comes between the opening of its wait and the commit of that', async () => {
    const { agent, told } = waitingFor(paid);
    const store = memoryStore();
    let sent = false;
    const process = processOver(store, async (commit) => {
      const [state] = commit.runs;
      if (sent || state === undefined || (commit.opens ?? []).length === 0) return undefined;
      sent = true;
      const payload = { name: 'paid', value: 'fast' };
      const signal = { kind: 'external-event', payload, dedupeKey: 'webhook' } as const;
      await store.inbox.append(state.runId, signal, { signal: NEVER });
      return undefined;
    });
    const app = await appOf(agent, steps, { store: process.store });
    const run = await app.start(agent, 'go');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(told).toEqual([resolved('fast')]);
    expect(await kept(store)).toEqual([]);
  });

  test.each(['die-before', 'die-after'] as const)(
    'is handed over once when the process dies with the commit that keeps it (%s)',
    async (fault) => {
      const { store, clock } = storeWithClock();
      const { agent, told, hold } = waitingFor([paid, paid]);
      const process = processOver(store, (commit) => (commit.values ? fault : undefined));
      const options = { provide: withClock(clock) };
      const first = await appOf(agent, [calls(['look', 'x'], ['pay', 'a'])], {
        ...options,
        store: process.store,
      });
      const run = await first.start(agent, 'go');
      run.result.catch(() => undefined);
      for await (const { event: shown } of run.events())
        if (shown.type === 'step-started' && shown.kind === 'tool') break;
      await event(first, run.runId, 'other', 'never');
      await process.dead;
      await clock.advance(LEASE_OVER);
      const second = await appOf(agent, [{ text: 'Paid.' }], { ...options, store });
      hold.open('seen');
      const joined = await second.attach(agent, run.runId);
      expect(await joined.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'event' }] });
      expect((await kept(store)).length).toBe(1);
      await event(second, run.runId, 'one');
      await until(() => told.length === 1);
      await event(second, run.runId, 'two');
      const ended = await (await second.attach(agent, run.runId)).result;
      expect(ended).toMatchObject({ kind: 'completed' });
      expect(told).toEqual([resolved('one'), resolved('two')]);
      expect(await kept(store)).toEqual([]);
    },
  );

  test('answers once when the process dies between the answer and the commit that says so', async () => {
    const { store, clock } = storeWithClock();
    const { agent, told } = waitingFor([paid, paid]);
    const options = { provide: withClock(clock) };
    const starter = await appOf(agent, steps, { ...options, store });
    const run = await starter.start(agent, 'go');
    await run.result;
    await starter.close();
    // The answer is in the store; the commit that consumes the event is not.
    const process = processOver(store, (commit) => (commit.consume ? 'die-before' : undefined));
    const second = await appOf(agent, [], { ...options, store: process.store });
    await event(second, run.runId, 'once');
    await process.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [{ text: 'Paid.' }], { ...options, store });
    const joined = await (await third.attach(agent, run.runId)).result;
    expect(joined).toMatchObject({ kind: 'paused' });
    expect(told).toEqual([resolved('once')]);
    expect(await kept(store)).toEqual([]);
  });

  test('of two events of one name the first is handed over first, the second to the next wait', async () => {
    const { agent, told, hold } = waitingFor([paid, paid]);
    const store = memoryStore();
    const app = await appOf(agent, [calls(['look', 'x']), ...steps], { store });
    const run = await app.start(agent, 'go');
    for await (const { event: shown } of run.events())
      if (shown.type === 'step-started' && shown.kind === 'tool') break;
    await event(app, run.runId, 'one');
    await event(app, run.runId, 'two');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(told).toEqual([resolved('one'), resolved('two')]);
    expect(await kept(store)).toEqual([]);
  });

  test.each(['completed', 'cancelled', 'failed'] as const)(
    'is void when its run is %s',
    async (how) => {
      const { agent, hold } = waitingFor(paid);
      const store = memoryStore();
      const end = how === 'failed' ? { error: new Error('no model') } : { text: 'Done.' };
      const app = await appOf(agent, [calls(['look', 'x']), end], { store });
      const run = await app.start(agent, 'go');
      for await (const { event: shown } of run.events())
        if (shown.type === 'step-started' && shown.kind === 'tool') break;
      await event(app, run.runId, 'for nobody');
      await send(app, run.runId, 'pause');
      hold.open('seen');
      await run.result;
      expect(await kept(store)).toHaveLength(1);
      if (how === 'cancelled') await app.runs.cancel(run.runId, undefined, app.local('me'));
      else await send(app, run.runId, 'resume');
      const result = await (await app.attach(agent, run.runId)).result;
      expect(result.kind).toBe(how);
      expect(await kept(store)).toEqual([]);
    },
  );

  test('many are kept, and every page of them is read by the next owner', async () => {
    const { agent, told, hold } = waitingFor({ kind: 'event', name: 'n149' });
    const store = memoryStore();
    const first = await appOf(agent, [calls(['look', 'x'])], { store });
    const run = await first.start(agent, 'go');
    for await (const { event: shown } of run.events())
      if (shown.type === 'step-started' && shown.kind === 'tool') break;
    for (let n = 0; n < 150; n += 1) await event(first, run.runId, `value ${n}`, `n${n}`);
    await send(first, run.runId, 'pause');
    hold.open('seen');
    await run.result;
    await first.close();
    const second = await appOf(agent, steps, { store });
    await send(second, run.runId, 'resume');
    await (await second.attach(agent, run.runId)).result;
    expect(told).toEqual([resolved('value 149')]);
    expect(await kept(store)).toEqual([]);
  });

  test('nothing is read from or written to the values of a run without events', async () => {
    const { agent } = waitingFor(paid);
    const store = memoryStore();
    let reads = 0;
    const counting: DurableStore = {
      ...store,
      values: {
        ...store.values,
        list: (query) => {
          reads += 1;
          return store.values.list(query);
        },
      },
    };
    const app = await appOf(agent, steps, { store: counting });
    const run = await app.start(agent, 'go');
    await run.result;
    await event(app, run.runId, 'in time');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(reads).toBe(0);
  });
});

test('an event that nobody waits for leaves a run at rest: it is not claimed again and again', async () => {
  const { agent } = waitingFor(paid);
  const store = memoryStore();
  const app = await appOf(agent, steps, { store });
  const run = await app.start(agent, 'go');
  await run.result;
  await event(app, run.runId, 'x', 'other');
  await until(async () => (await kept(store)).length === 1);
  await until(
    async () => (await app.runs.get(run.runId, app.local('me'))).status === 'interrupted',
  );
  await settled();
  expect(await app.recover({ signal: NEVER })).toBe(0);
  expect(await store.inbox.pending(run.runId, { signal: NEVER })).toEqual([]);
});

test('an event for a wait that somebody has just answered otherwise is kept for the next one', async () => {
  const base = memoryStore();
  let first = true;
  const store: DurableStore = {
    ...base,
    inbox: {
      ...base.inbox,
      resolve: async (id, given, stop) => {
        if (first) {
          first = false;
          const resolution = { plain: { decision: 'answer', value: 'by hand' } } as const;
          await base.inbox.resolve(id, { ...given, resolution, by: 'somebody' }, stop);
        }
        return base.inbox.resolve(id, given, stop);
      },
    },
  };
  const { agent, told } = waitingFor([paid, paid]);
  const app = await appOf(agent, steps, { store });
  const run = await app.start(agent, 'go');
  await run.result;
  await event(app, run.runId, 'by event');
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(told).toEqual([resolved('by hand'), resolved('by event')]);
});

test.each(['a tool runs', 'the model answers'])(
  'what comes while the inbox is read is read right after, once (%s)',
  async (during) => {
    const base = memoryStore();
    const slow = gate();
    let reads = 0;
    const store: DurableStore = {
      ...base,
      inbox: {
        ...base.inbox,
        pending: async (id, stop) => {
          reads += 1;
          const found = await base.inbox.pending(id, stop);
          if (reads === 1) await slow.promise;
          return found;
        },
      },
    };
    const { agent, told, hold } = waitingFor(paid);
    const begin = gate();
    const looks = { ...calls(['look', 'x']), until: begin.promise };
    const app = await appOf(agent, [looks, ...steps], { store });
    const run = await app.start(agent, 'go');
    await until(() => app.model.requests.length === 1);
    if (during === 'a tool runs') {
      begin.open();
      for await (const { event: shown } of run.events())
        if (shown.type === 'step-started' && shown.kind === 'tool') break;
    }
    await event(app, run.runId, 'a', 'other');
    await settled();
    await event(app, run.runId, 'b');
    await event(app, run.runId, 'c', 'third');
    expect(reads).toBe(1);
    slow.open();
    await until(() => reads === 2);
    begin.open();
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'completed' });
    expect(told).toEqual([resolved('b')]);
  },
);

test('many events that are read at once are kept in several commits', async () => {
  const { agent, told, hold } = waitingFor({ kind: 'event', name: 'n99' });
  const store = memoryStore();
  const first = await appOf(agent, [calls(['look', 'x'])], { store });
  const run = await first.start(agent, 'go');
  for await (const { event: shown } of run.events())
    if (shown.type === 'step-started' && shown.kind === 'tool') break;
  await send(first, run.runId, 'pause');
  hold.open('seen');
  await run.result;
  await first.close();
  for (let n = 0; n < 100; n += 1)
    await store.inbox.append(
      run.runId,
      { kind: 'external-event', payload: { name: `n${n}` }, dedupeKey: `${n}` },
      { signal: NEVER },
    );
  const process = processOver(store);
  const second = await appOf(agent, steps, { store: process.store });
  await send(second, run.runId, 'resume');
  expect((await (await second.attach(agent, run.runId)).result).kind).toBe('completed');
  expect(told).toEqual([resolved(null)]);
  expect(process.sent.filter(({ values }) => values !== undefined).length).toBeGreaterThan(2);
});

test('an event whose wait is over for the store, and not yet for the owner, is kept, and the wait expires', async () => {
  const own = fakeClock();
  const stored = fakeClock(own.now());
  const store = memoryStore({ clock: stored });
  const { agent, told } = waitingFor([{ ...paid, timeoutMs: 1_000 }, paid] as readonly WaitFor[]);
  const app = await appOf(agent, steps, { store, provide: withClock(own) });
  const run = await app.start(agent, 'go');
  await run.result;
  await stored.advance(1_000);
  await event(app, run.runId, 'late');
  expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
  expect(told).toEqual([{ kind: 'expired' }, resolved('late')]);
});

describe('a wake-up of a scheduler', () => {
  const later = (ms: number, from = Date.now()): WaitFor => ({
    kind: 'timer',
    at: new Date(from + ms).toISOString(),
  });

  test('that names a timer answers it before its time, with a value', async () => {
    const { agent, told } = waitingFor(later(3_600_000));
    const app = await appOf(agent, steps, { store: memoryStore() });
    const run = await app.start(agent, 'go');
    const paused = await run.result;
    expect(paused).toMatchObject({ kind: 'paused', waits: [{ kind: 'timer' }] });
    const waitId = paused.kind === 'paused' ? (paused.waits[0]?.id ?? '') : '';
    await send(app, run.runId, 'scheduler-wake-up', { waitId, value: 'tick' });
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(told).toEqual([resolved('tick')]);
  });

  test('that names none closes what is due by the store’s clock, and leaves the rest to wait', async () => {
    const { store, clock } = storeWithClock();
    const { agent, told } = waitingFor([later(1_000, clock.now()), later(9_000, clock.now())]);
    const app = await appOf(agent, steps, { store, provide: withClock(clock) });
    const run = await app.start(agent, 'go');
    await run.result;
    await send(app, run.runId, 'scheduler-wake-up');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'paused' });
    expect(told).toEqual([]);
    await clock.advance(1_000);
    await send(app, run.runId, 'scheduler-wake-up');
    await until(() => told.length === 1);
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'paused' });
    expect(told).toEqual([resolved(null)]);
  });
});

describe('hooks of control signals', () => {
  test('pause and resume take effect at once, and their hooks are told, each in a step of its own', async () => {
    const heard: string[] = [];
    const { agent, hold } = waitingFor(paid, {
      pause: async function* (signal, context) {
        heard.push(`${signal.kind} ${context.agentName}`);
        yield { kind: 'evidence', evidenceKind: 'evaluation', evidenceSeq: 1 };
        yield { kind: 'progress', message: 'resting' };
        yield { kind: 'progress', message: 'well' };
      },
      resume: async function* (signal) {
        heard.push(signal.kind);
        yield { kind: 'evidence', evidenceKind: 'evaluation', evidenceSeq: 1 };
        yield { kind: 'token', text: 'Here again.' };
      },
    });
    const app = await appOf(agent, [calls(['look', 'x']), { text: 'Done.' }], {
      store: memoryStore(),
    });
    const run = await app.start(agent, 'go');
    for await (const { event: shown } of run.events())
      if (shown.type === 'step-started' && shown.kind === 'tool') break;
    await send(app, run.runId, 'pause');
    hold.open('seen');
    expect(await run.result).toMatchObject({ kind: 'paused', waits: [] });
    expect(heard).toEqual(['pause shop']);
    await send(app, run.runId, 'resume');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(heard).toEqual(['pause shop', 'resume']);
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'progress').map(({ message }) => message)).toEqual(['resting', 'well']);
    const own = log.filter(
      ({ event: shown }) => shown.type === 'step-started' && shown.kind === 'signal',
    );
    expect(own).toHaveLength(1);
    expect(eventsOf(log, 'signal-consumed').map(({ kind }) => kind)).toEqual(['pause', 'resume']);
    expect(app.model.requests).toHaveLength(2);
  });

  test('an event that its hook has handled answers nobody and is not kept', async () => {
    const store = memoryStore();
    const { agent, told } = waitingFor(paid, {
      'external-event': async function* (signal) {
        yield { kind: 'progress', message: `got ${JSON.stringify(signal.payload['value'])}` };
        return signal.payload['value'] === 'mine' ? 'handled' : undefined;
      },
    });
    const app = await appOf(agent, steps, { store });
    const run = await app.start(agent, 'go');
    await run.result;
    await event(app, run.runId, 'mine');
    await until(async () => (await store.inbox.pending(run.runId, { signal: NEVER })).length === 0);
    await until(
      async () => (await app.runs.get(run.runId, app.local('me'))).status === 'interrupted',
    );
    expect([told, await kept(store)]).toEqual([[], []]);
    await event(app, run.runId, 'yours');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({ kind: 'completed' });
    expect(told).toEqual([resolved('yours')]);
    expect(eventsOf(await logOf(app, run.runId), 'progress')).toHaveLength(2);
  });

  test('a hook is called again when its process dies before the commit that consumes its signal', async () => {
    const { store, clock } = storeWithClock();
    const heard: number[] = [];
    const { agent, told } = waitingFor([paid], {
      'external-event': async function* (signal) {
        heard.push(signal.seq);
        yield { kind: 'progress', message: 'heard' };
      },
    });
    const options = { provide: withClock(clock) };
    const starter = await appOf(agent, steps, { ...options, store });
    const run = await starter.start(agent, 'go');
    await run.result;
    await starter.close();
    const process = processOver(store, (commit) => (commit.consume ? 'die-before' : undefined));
    const second = await appOf(agent, [], { ...options, store: process.store });
    await event(second, run.runId, 'once');
    await process.dead;
    await clock.advance(LEASE_OVER);
    const third = await appOf(agent, [{ text: 'Paid.' }], { ...options, store });
    await (await third.attach(agent, run.runId)).result;
    expect([heard, told]).toEqual([[1, 1], [resolved('once')]]);
  });

  test('a cancellation does not wait for a hook', async () => {
    const never = gate();
    let entered = false;
    let left = false;
    const { agent } = waitingFor(paid, {
      'scheduler-wake-up': async function* () {
        entered = true;
        try {
          await never.promise;
          yield { kind: 'progress', message: 'too late' };
        } finally {
          left = true;
          // biome-ignore lint/correctness/noUnsafeFinally: what it throws on its way out is of no use to anybody
          throw new Error('on its way out');
        }
      },
    });
    const app = await appOf(agent, steps, { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await run.result;
    await send(app, run.runId, 'scheduler-wake-up');
    await until(() => entered);
    await app.runs.cancel(run.runId, 'enough', app.local('me'));
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'cancelled',
      reason: 'enough',
    });
    never.open();
    await until(() => left);
    expect(eventsOf(await logOf(app, run.runId), 'progress')).toEqual([]);
  });

  test('a hook that fails ends its run', async () => {
    const { agent } = waitingFor(paid, {
      'external-event': async function* () {
        yield { kind: 'progress', message: 'so far' };
        throw new Error('a bug');
      },
    });
    const app = await appOf(agent, steps, { store: memoryStore() });
    const run = await app.start(agent, 'go');
    await run.result;
    await event(app, run.runId, 'x');
    expect(await (await app.attach(agent, run.runId)).result).toMatchObject({
      kind: 'failed',
      error: { code: 'HOOK_FAILED' },
    });
    const log = await logOf(app, run.runId);
    expect(eventsOf(log, 'step-finished').at(-1)).toMatchObject({ finish: 'failed' });
  });
});

test('evidence of a signal names where the run stood when it was read', async () => {
  const { agent, hold } = waitingFor(paid);
  const begin = gate();
  const app = await appOf(
    agent,
    [
      { ...calls(['look', 'x']), text: ['a', 'b'], until: begin.promise },
      calls(['pay', 'a']),
      { text: 'Done.' },
    ],
    { store: memoryStore() },
  );
  const run = await app.start(agent, 'go');
  await until(() => app.model.requests.length === 1);
  await send(app, run.runId, 'resume');
  await settled();
  begin.open();
  for await (const { event: shown } of run.events())
    if (shown.type === 'step-started' && shown.kind === 'tool') break;
  await send(app, run.runId, 'resume');
  await settled();
  hold.open('seen');
  await run.result;
  await event(app, run.runId, 'x');
  await (await app.attach(agent, run.runId)).result;
  const rows = (await evidenceOf(app, run.runId)).filter(({ kind }) => kind === 'signal');
  expect(rows.map(({ payload }) => [payload?.['kind'], payload?.['pollPoint']])).toEqual([
    ['resume', 'model-stream-tick'],
    ['resume', 'tool-boundary'],
    ['external-event', 'safe-boundary'],
    ['approval-decision', 'safe-boundary'],
  ]);
});
