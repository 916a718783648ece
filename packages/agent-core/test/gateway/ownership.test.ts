import { expect, test } from 'vitest';
import {
  AgentError,
  bind,
  bootstrap,
  ClockPort,
  type DurableStore,
  type Lease,
  type RunId,
} from '../../src/index.ts';
import {
  memoryDurability,
  memoryStore,
  type ScriptStep,
  scriptedModel,
} from '../../src/testing/index.ts';
import {
  appOf,
  gate,
  LEASE_OVER,
  settled,
  storeWithClock,
  unreachable,
  until,
  userTexts,
  withClock,
} from '../behaviours/harness.ts';
import {
  alice,
  asks,
  chatter,
  codeOf,
  done,
  drained,
  everyEvent,
  pendingWait,
  writer,
} from './harness.ts';

type Heartbeat = DurableStore['ownership']['heartbeat'];

const beating = (store: DurableStore, heartbeat: Heartbeat): DurableStore => ({
  ...store,
  ownership: { ...store.ownership, heartbeat },
});

/** Two processes over one store and one clock; the first works on a run whose model waits for the gate. */
async function twoProcesses(heartbeat?: (real: Heartbeat) => Heartbeat) {
  const { store, clock } = storeWithClock();
  const provide = withClock(clock);
  const hold = gate();
  const mine =
    heartbeat === undefined ? store : beating(store, heartbeat(store.ownership.heartbeat));
  const owner = await appOf(writer, [{ text: 'Mine.', until: hold.promise }, { text: 'More.' }], {
    store: mine,
    provide,
  });
  const other = await appOf(writer, [{ text: 'Theirs.' }], { store, provide });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const close = async (): Promise<void> => {
    hold.open();
    await Promise.all([owner.close(), other.close()]);
  };
  return { store, clock, hold, owner, other, run, close };
}

test('a lease is kept for as long as the work goes on', async () => {
  const { clock, hold, other, run, close } = await twoProcesses();
  await clock.advance(120_000);
  expect(await other.recover({ signal: alice.signal })).toBe(0);
  await other.drive(run.runId, { signal: alice.signal });
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'completed', output: 'Mine.' });
  await close();
});

test('a message from another process reaches the owner with its next heartbeat', async () => {
  const { clock, hold, owner, other, run, close } = await twoProcesses();
  await other.runs.signal(
    run.runId,
    { kind: 'user-message', payload: { text: 'Hear me.' } },
    alice,
  );
  await clock.advance(1_000);
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'completed', output: 'More.' });
  expect(userTexts(owner)).toEqual(['x', 'Hear me.']);
  await close();
});

test('a cancellation from another process stops the owner, whatever its model does', async () => {
  const { clock, other, run, close } = await twoProcesses();
  await other.runs.cancel(run.runId, 'enough', alice);
  await settled();
  expect((await other.runs.get(run.runId, alice)).status).toBe('active');
  await clock.advance(1_000);
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  await close();
});

test('heartbeats that fail for a while lose nothing', async () => {
  let fails = 20;
  const { clock, hold, run, close } = await twoProcesses((real) => (...given) => {
    fails -= 1;
    return fails > 0 ? Promise.reject(unreachable()) : real(...given);
  });
  await clock.advance(60_000);
  expect(fails).toBeLessThan(0);
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'completed', output: 'Mine.' });
  await close();
});

test.each<[string, (real: Heartbeat) => Heartbeat]>([
  ['cannot be reached', () => () => Promise.reject(unreachable())],
  ['does not answer', () => () => new Promise(() => undefined)],
])(
  'an owner whose store %s stops by itself before its lease is over, and without a word',
  async (_what, heartbeat) => {
    const { clock, store, owner, other, run, close } = await twoProcesses(heartbeat);
    const { result } = run;
    const reading = drained(run.events());
    await clock.advance(24_000);
    expect(await other.recover({ signal: alice.signal })).toBe(0);
    const before = (await store.records.head(run.runId, { signal: alice.signal }))?.lastSeq;
    await clock.advance(2_000);
    expect((await store.records.head(run.runId, { signal: alice.signal }))?.lastSeq).toBe(before);
    expect(await owner.runs.get(run.runId, alice)).toMatchObject({ status: 'active' });
    await clock.advance(5_000);
    expect(await other.recover({ signal: alice.signal })).toBe(1);
    expect(await result).toMatchObject({ kind: 'completed', output: 'Theirs.' });
    const all = await everyEvent(other, run.runId);
    expect(all.filter(({ event }) => event.type === 'run-finished')).toHaveLength(1);
    expect((await reading).at(-1)).toEqual(all.at(-1));
    await close();
  },
);

test('an owner that is told that it has lost its run stops at once, and its readers go on from the log', async () => {
  const { store, clock } = storeWithClock();
  const mine = storeWithClock().clock;
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Mine.', until: hold.promise }], {
    store,
    provide: withClock(mine),
  });
  const other = await appOf(writer, [{ text: 'Theirs.' }], { store });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const { result } = run;
  await clock.advance(LEASE_OVER);
  expect(await other.recover({ signal: alice.signal })).toBe(1);
  const watched = drained(owner.runs.watch(run.runId, {}, alice));
  await settled();
  await mine.advance(1_000);
  expect(await result).toMatchObject({ kind: 'completed', output: 'Theirs.' });
  expect((await watched).flat().at(-1)?.event.type).toBe('run-finished');
  hold.open();
  await Promise.all([owner.close(), other.close()]);
});

test('a heartbeat that was sent for an earlier lease takes nothing from a later one', async () => {
  const { store, clock } = storeWithClock();
  const late = gate();
  const sent: (readonly Lease[])[] = [];
  const stale = beating(store, async (leases) => {
    sent.push(leases);
    await late.promise;
    return { lost: leases.map(({ rootRunId }) => rootRunId), signalled: [] };
  });
  const [first, second, third] = [gate(), gate(), gate()];
  const steps: readonly ScriptStep[] = [
    { text: 'Stays.', until: third.promise },
    { ...asks, until: first.promise },
    { text: 'Done.', until: second.promise },
  ];
  const app = await appOf(writer, steps, { store: stale, provide: withClock(clock) });
  await app.start(writer, 'stays', { principal: alice.principal });
  await until(() => app.model.requests.length === 1);
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await clock.advance(1_000);
  expect(sent.map((leases) => leases.length)).toEqual([2]);
  first.open();
  await run.result;
  await app.runs.resolve((await pendingWait(app, run.runId)).id, { decision: 'approve' }, alice);
  const joined = await app.runs.resume(run.runId, alice);
  const { result } = joined;
  late.open();
  await settled();
  second.open();
  expect((await result).kind).toBe('completed');
  third.open();
  await app.close();
});

test('a heartbeat that is under way when the last run ends is let go', async () => {
  const { store, clock } = storeWithClock();
  const stopped: boolean[] = [];
  const slow = beating(store, (_leases, { signal }) => {
    signal.addEventListener('abort', () => stopped.push(true));
    return new Promise(() => undefined);
  });
  const hold = gate();
  const app = await appOf(writer, [{ text: 'Hi.', until: hold.promise }, done], {
    store: slow,
    provide: withClock(clock),
  });
  const run = await app.start(writer, 'x');
  await clock.advance(1_000);
  hold.open();
  expect((await run.result).kind).toBe('completed');
  await settled();
  expect(stopped).toEqual([true]);
  expect((await app.run(writer, 'again')).kind).toBe('completed');
  await app.close();
});

test('a run that is just being given back is not lost by a heartbeat', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  let ending = false;
  const slow: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      heartbeat: async (leases) => ({
        lost: leases.map(({ rootRunId }) => rootRunId),
        signalled: [],
      }),
      commit: async (lease, commit, stop) => {
        const answer = await store.ownership.commit(lease, commit, stop);
        ending = true;
        await hold.promise;
        return answer;
      },
    },
  };
  const app = await appOf(writer, [done], { store: slow, provide: withClock(clock) });
  const run = await app.start(writer, 'x');
  const { result } = run;
  await until(() => ending);
  await clock.advance(1_000);
  hold.open();
  expect((await result).kind).toBe('completed');
  await app.close();
});

test('only runs with a lease are in a heartbeat, and the silence of having none is no silence of the store', async () => {
  const { store, clock } = storeWithClock();
  const sent: number[] = [];
  let fails = false;
  const counting = beating(store, (leases, stop) => {
    sent.push(leases.length);
    return fails ? Promise.reject(unreachable()) : store.ownership.heartbeat(leases, stop);
  });
  const hold = gate();
  const step = { text: 'Hi.', until: hold.promise };
  const app = await appOf([chatter, writer], [step, step, step], {
    store: counting,
    provide: withClock(clock),
  });
  const first = await app.start(writer, 'x');
  const stateless = await app.start(chatter, 'x');
  await clock.advance(1_000);
  expect(sent).toEqual([1]);
  await app.runs.cancel(first.runId, undefined, app.local('x'));
  await first.result;
  await clock.advance(60_000);
  expect(sent).toEqual([1]);
  fails = true;
  const second = await app.start(writer, 'x');
  await clock.advance(2_000);
  hold.open();
  expect((await second.result).kind).toBe('completed');
  expect((await stateless.result).kind).toBe('completed');
  await app.close();
});

test('a shorter lease beats faster and is over sooner', async () => {
  const { store, clock } = storeWithClock();
  const ttls: number[] = [];
  const beats: number[] = [];
  const noted: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      create: (run, first, options) => {
        ttls.push(options.claim?.ttlMs ?? 0);
        return store.ownership.create(run, first, options);
      },
      heartbeat: (leases, stop) => {
        beats.push(clock.monotonic());
        return store.ownership.heartbeat(leases, stop);
      },
    },
  };
  const hold = gate();
  const app = await bootstrap({
    plugins: [scriptedModel([{ text: 'Hi.', until: hold.promise }]), memoryDurability(noted)],
    provide: [bind(ClockPort, clock)],
    agents: [writer],
    leaseMs: 1_000,
  });
  const run = await app.start(writer, 'x');
  await clock.advance(1_000);
  expect([ttls, beats]).toEqual([[1_000], [200, 400, 600, 800, 1_000]]);
  hold.open();
  await run.result;
  await app.close();
});

// ── the moment between release and rest ──────────────────────────────────────────────────────────

test('an answer that comes after the release and before its owner knows is not lost', async () => {
  const store = memoryStore();
  const released = gate();
  const hold = gate();
  const slow: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      commit: async (lease, commit, stop) => {
        const answer = await store.ownership.commit(lease, commit, stop);
        if (commit.release !== undefined) {
          released.open();
          await hold.promise;
        }
        return answer;
      },
    },
  };
  const app = await appOf(writer, [asks, done], { store: slow });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await released.promise;
  await app.runs.resolve((await pendingWait(app, run.runId)).id, { decision: 'approve' }, alice);
  const joined = await app.runs.resume(run.runId, alice);
  const { result } = joined;
  await until(async () => (await app.runs.get(run.runId, alice)).status === 'completed');
  hold.open();
  expect((await result).kind).toBe('completed');
  expect((await run.result).kind).toBe('paused');
  await app.close();
});

test('a cancellation that comes before the release is read by the owner', async () => {
  const store = memoryStore();
  const releasing = gate();
  const hold = gate();
  const slow: DurableStore = {
    ...store,
    ownership: {
      ...store.ownership,
      commit: async (lease, commit, stop) => {
        if (commit.release !== undefined) {
          releasing.open();
          await hold.promise;
        }
        return store.ownership.commit(lease, commit, stop);
      },
    },
  };
  const app = await appOf(writer, [asks], { store: slow });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await releasing.promise;
  await app.runs.cancel(run.runId, 'enough', alice);
  hold.open();
  expect(await run.result).toMatchObject({ kind: 'cancelled', reason: 'enough' });
  await app.close();
});

// ── recover and drive ────────────────────────────────────────────────────────────────────────────

/** So many runs whose owner is gone. */
async function orphans(count: number) {
  const { store, clock } = storeWithClock();
  const gone = await appOf(
    writer,
    Array.from({ length: count }, () => ({ text: 'x', until: new Promise(() => undefined) })),
    { store },
  );
  const runs: RunId[] = [];
  for (let index = 0; index < count; index += 1)
    runs.push((await gone.start(writer, 'x', { principal: alice.principal })).runId);
  await clock.advance(LEASE_OVER);
  return { store, gone, runs };
}

test('to recover takes up all that nobody works on, and says how many', async () => {
  const { store, gone, runs } = await orphans(3);
  const app = await appOf(writer, [done, done, done], { store });
  expect(await app.recover({ signal: alice.signal })).toBe(3);
  for (const runId of runs) expect((await app.runs.get(runId, alice)).status).toBe('completed');
  expect(await app.recover({ signal: alice.signal })).toBe(0);
  await Promise.all([app.close(), gone.close()]);
});

test('to recover stops where it is told to', async () => {
  const { store, gone } = await orphans(2);
  const stopping = new AbortController();
  const reason = new Error('enough');
  const app = await appOf(writer, [{ text: 'x', expect: () => stopping.abort(reason) }], { store });
  await expect(app.recover({ signal: stopping.signal })).rejects.toBe(reason);
  await Promise.all([app.close(), gone.close()]);
});

test('to drive takes up one run, waits for its rest, and does nothing for one that needs nobody', async () => {
  const { store, gone, runs } = await orphans(1);
  const [runId] = runs as [RunId];
  const app = await appOf(writer, [asks, done], { store });
  const { signal } = alice;
  await app.drive(runId, { signal });
  expect((await app.runs.get(runId, alice)).status).toBe('interrupted');
  await app.drive(runId, { signal });
  expect(app.model.requests).toHaveLength(1);
  await app.runs.resolve((await pendingWait(app, runId)).id, { decision: 'approve' }, alice);
  await (await app.runs.resume(runId, alice)).result;
  await app.drive(runId, { signal });
  await app.drive('rnowhere' as RunId, { signal });
  expect(app.model.requests).toHaveLength(2);
  await Promise.all([app.close(), gone.close()]);
});

test('who drives for others is done when the run is in other hands, and hears of a store that fails', async () => {
  const { store, gone, runs } = await orphans(2);
  const answers: (() => Promise<never> | Promise<{ readonly kind: 'superseded' }>)[] = [
    async () => ({ kind: 'superseded' }),
    () => Promise.reject(new AgentError('STORE_FAILED', { message: 'Full.', mend: 'Make room.' })),
  ];
  const failing: DurableStore = {
    ...store,
    ownership: { ...store.ownership, commit: () => (answers.shift() as () => Promise<never>)() },
  };
  const app = await appOf(writer, [done, done], { store: failing });
  const [first, second] = runs as [RunId, RunId];
  await app.drive(first, { signal: alice.signal });
  expect(await codeOf(app.drive(second, { signal: alice.signal }))).toBe('STORE_FAILED');
  await Promise.all([app.close(), gone.close()]);
});

test('a run that cannot be read keeps no other from being recovered, and is told about at the end', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  const never = { text: 'Mine.', until: hold.promise };
  const owner = await appOf(writer, [never, never], { store });
  const newer = await owner.start(writer, 'x', { principal: alice.principal });
  const readable = await owner.start(writer, 'y', { principal: alice.principal });
  await clock.advance(LEASE_OVER);
  const load: DurableStore['records']['load'] = async (runId, stop) => {
    const tree = await store.records.load(runId, stop);
    return tree !== undefined && runId === newer.runId ? { ...tree, format: 99 } : tree;
  };
  const other = await appOf(writer, [{ text: 'Theirs.' }], {
    store: { ...store, records: { ...store.records, load } },
  });
  expect(await codeOf(other.recover({ signal: alice.signal }))).toBe('FORMAT_UNKNOWN');
  expect(await other.runs.get(readable.runId, alice)).toMatchObject({ status: 'completed' });
  hold.open();
  await Promise.all([owner.close(), other.close()]);
});

test('who joins a run whose owner has died takes it over when the lease is over', async () => {
  const { store, clock } = storeWithClock();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Mine.', until: hold.promise }], { store });
  const other = await appOf(writer, [{ text: 'Theirs.' }], { store, provide: withClock(clock) });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const joined = await other.runs.resume(run.runId, alice);
  const again = await other.runs.resume(run.runId, alice);
  const { result } = joined;
  await settled();
  await clock.advance(1_000);
  expect(await other.runs.get(run.runId, alice)).toMatchObject({ status: 'active' });
  await clock.advance(LEASE_OVER);
  expect(await result).toMatchObject({ kind: 'completed', output: 'Theirs.' });
  expect(await again.result).toMatchObject({ kind: 'completed', output: 'Theirs.' });
  hold.open();
  await Promise.all([owner.close(), other.close()]);
});
