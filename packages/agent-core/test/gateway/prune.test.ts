import { describe, expect, test } from 'vitest';
import type { App, DurableStore, RunId } from '../../src/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { appOf, processOver, storeWithClock, until, withClock } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  chatter,
  codeOf,
  done,
  everyEvent,
  pendingWait,
  writer,
} from './harness.ts';

const DAY = 86_400_000;
const scope = { tenantId: 'acme' };
const as = { principal: alice.principal };

/** A run that has ended, and one that waits. */
async function two(store: DurableStore, clock: FakeClock) {
  const app = await appOf(writer, [{ text: 'Hi.' }, asks, done], {
    store,
    provide: withClock(clock),
  });
  const over = await app.start(writer, 'x', as);
  await over.result;
  const waiting = await app.start(writer, 'y', as);
  await waiting.result;
  return { app, over: over.runId, waiting: waiting.runId };
}

const events = async (app: App, runId: RunId, after = 0) => everyEvent(app, runId, { after });

describe('retention', () => {
  test('removes what ended long ago, and the old events of what has not ended', async () => {
    const { store, clock } = storeWithClock();
    const { app, over, waiting } = await two(store, clock);
    expect(await app.prune({ olderThan: DAY, keep: 'nothing', scope })).toEqual({
      runs: 0,
      events: 0,
    });
    await clock.advance(DAY + 1);
    const counted = await app.prune({ olderThan: DAY, keep: 'nothing', scope, dryRun: true });
    expect(counted.runs).toBe(1);
    expect(counted.events).toBeGreaterThan(2);
    expect(await app.runs.verify(over, alice)).not.toHaveProperty('fault');
    expect(await app.prune({ olderThan: DAY, keep: 'nothing', scope })).toEqual(counted);
    expect(await codeOf(app.runs.get(over, alice))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(events(app, waiting))).toBe('EVENTS_PRUNED');
    expect(await app.prune({ olderThan: DAY, keep: 'nothing', scope })).toEqual({
      runs: 0,
      events: 0,
    });
  });

  test('keeps the evidence of what ended, when it is told to, and says that the events are gone', async () => {
    const { store, clock } = storeWithClock();
    const { app, over } = await two(store, clock);
    const rows = await app.runs.evidence(over, {}, alice);
    await clock.advance(DAY + 1);
    const given = { olderThan: DAY, keep: 'evidence', scope } as const;
    expect(await app.prune({ ...given, dryRun: true })).toMatchObject({ runs: 1 });
    expect(await app.prune(given)).toMatchObject({ runs: 1 });
    expect(await app.prune({ ...given, dryRun: true })).toEqual({ runs: 0, events: 0 });
    expect(await app.runs.evidence(over, {}, alice)).toEqual(rows);
    expect(await app.runs.verify(over, alice)).toMatchObject({ rows: rows.length });
    expect(await app.runs.get(over, alice)).toMatchObject({ status: 'completed' });
    expect(await codeOf(events(app, over))).toBe('EVENTS_PRUNED');
  });

  test('a run whose events were removed goes on from what is kept, and is read on from a snapshot', async () => {
    const { store, clock } = storeWithClock();
    const { app, waiting } = await two(store, clock);
    await clock.advance(DAY + 1);
    await app.prune({ olderThan: DAY, keep: 'evidence', scope });
    const { lastSeq, waits, messages } = await app.runs.snapshot(waiting, alice);
    expect([waits.length, messages.length]).toEqual([1, 2]);
    const { id } = await pendingWait(app, waiting);
    await app.runs.resolve(id, { decision: 'approve' }, alice);
    const handle = await app.runs.resume(waiting, alice);
    expect((await handle.result).kind).toBe('completed');
    const rest = await events(app, waiting, lastSeq);
    expect(rest.at(-1)?.event.type).toBe('run-finished');
    expect(rest.every(({ seq }) => seq > lastSeq)).toBe(true);
  });

  test('who asks for the result of a run gets it, also when its first events are gone', async () => {
    const { store, clock } = storeWithClock();
    const { app, waiting } = await two(store, clock);
    await clock.advance(DAY + 1);
    await app.prune({ olderThan: DAY, keep: 'evidence', scope });
    const other = await appOf(chatter, [], { store, provide: withClock(clock) });
    const handle = await other.runs.resume(waiting, alice);
    expect(await handle.result).toMatchObject({ kind: 'paused', waits: [{ kind: 'approval' }] });
  });

  test('a reader that is behind when events are removed is told, and nothing is left out in silence', async () => {
    const { store, clock } = storeWithClock();
    const { app, over } = await two(store, clock);
    const slow = app.runs.watch(over, { after: 0 }, alice)[Symbol.asyncIterator]();
    const other = await appOf(writer, [], { store, provide: withClock(clock) });
    const paged: DurableStore = {
      ...store,
      log: { ...store.log, read: (id, query) => store.log.read(id, { ...query, limit: 2 }) },
    };
    const reader = await appOf(writer, [], { store: paged, provide: withClock(clock) });
    const behind = reader.runs.watch(over, { after: 0 }, alice)[Symbol.asyncIterator]();
    expect((await behind.next()).done).toBe(false);
    await clock.advance(DAY + 1);
    await other.prune({ olderThan: DAY, keep: 'evidence', scope });
    expect(await codeOf(behind.next())).toBe('EVENTS_PRUNED');
    expect(await codeOf(slow.next())).toBe('EVENTS_PRUNED');
  });

  test('nothing of a step that is open is removed', async () => {
    const { store, clock } = storeWithClock();
    const never = new Promise<undefined>(() => undefined);
    const flushing: DurableStore = { ...store, liveFlushMs: 0 };
    const stuck = processOver(flushing, (commit) => (commit.progress ? never : undefined));
    // By its own clock, no time goes by: only the one that prunes is a day ahead.
    const app = await appOf(writer, [{ text: ['said', ' so'] }], { store: stuck.store });
    const other = await appOf(writer, [], { store, provide: withClock(clock) });
    const run = await app.start(writer, 'x', as);
    const shown = async () => (await other.runs.snapshot(run.runId, alice)).open;
    await until(async () => JSON.stringify(await shown()).includes(' so'));
    const before = await shown();
    await clock.advance(2 * DAY);
    const given = { olderThan: DAY, keep: 'nothing', scope } as const;
    const counted = await other.prune({ ...given, dryRun: true });
    expect(await other.prune(given)).toEqual(counted);
    expect(counted.events).toBeGreaterThan(0);
    expect(await shown()).toEqual(before);
  });

  test('reaches only the scope that it is given; without one, the local tenant', async () => {
    const { store, clock } = storeWithClock();
    const { app, over } = await two(store, clock);
    await clock.advance(DAY + 1);
    for (const other of [{ tenantId: 'rival' }, { tenantId: 'acme', userId: 'bob' }])
      expect(await app.prune({ olderThan: DAY, keep: 'nothing', scope: other })).toEqual({
        runs: 0,
        events: 0,
      });
    expect(await app.prune({ olderThan: DAY, keep: 'nothing' })).toEqual({ runs: 0, events: 0 });
    expect(await app.runs.get(over, acme)).toMatchObject({ status: 'completed' });
  });

  test('a store that cannot shorten a log removes what has ended all the same', async () => {
    const { store, clock } = storeWithClock();
    const { prune: _prune, ...log } = store.log;
    const { app } = await two({ ...store, log }, clock);
    await clock.advance(DAY + 1);
    expect(await app.prune({ olderThan: DAY, keep: 'nothing', scope })).toEqual({
      runs: 1,
      events: 0,
    });
  });

  test('many runs are gone through page by page', async () => {
    const { store, clock } = storeWithClock();
    const paged: DurableStore = {
      ...store,
      records: { ...store.records, runs: (query) => store.records.runs({ ...query, limit: 1 }) },
    };
    const app = await appOf(writer, [{ text: 'Hi.' }, { text: 'Hi.' }], {
      store: paged,
      provide: withClock(clock),
    });
    for (const message of ['x', 'y']) await app.run(writer, message, as);
    await clock.advance(DAY + 1);
    const given = { olderThan: DAY, keep: 'nothing', scope, dryRun: true } as const;
    expect((await app.prune(given)).runs).toBe(2);
  });

  test('a long log is gone through page by page, and a run that is removed meanwhile is left out', async () => {
    const { store, clock } = storeWithClock();
    let gone = false;
    const paged: DurableStore = {
      ...store,
      log: { ...store.log, read: (id, query) => store.log.read(id, { ...query, limit: 1 }) },
      records: {
        ...store.records,
        load: async (id, stop) => (gone ? undefined : store.records.load(id, stop)),
      },
    };
    const { app } = await two(paged, clock);
    await clock.advance(DAY + 1);
    const given = { olderThan: DAY, keep: 'nothing', scope, dryRun: true } as const;
    expect((await app.prune(given)).events).toBeGreaterThan(2);
    gone = true;
    expect((await app.prune(given)).events).toBe(0);
  });

  test.each([
    [{ olderThan: -1, keep: 'nothing' }],
    [{ olderThan: Number.NaN, keep: 'evidence' }],
    [{ olderThan: '30d', keep: 'evidence' }],
    [{ olderThan: 1, keep: 'all' }],
    [{ olderThan: 1 }],
  ])('%j is refused', async (options) => {
    const { store, clock } = storeWithClock();
    const { app, over } = await two(store, clock);
    await clock.advance(DAY);
    expect(await codeOf(app.prune({ ...options, scope } as never))).toBe('INPUT_INVALID');
    expect(await app.runs.get(over, alice)).toMatchObject({ status: 'completed' });
  });

  test('an application without a store has nothing to remove', async () => {
    const app = await appOf(chatter, []);
    expect(await codeOf(app.prune({ olderThan: 1, keep: 'nothing' }))).toBe('RUN_NOT_DURABLE');
  });
});
