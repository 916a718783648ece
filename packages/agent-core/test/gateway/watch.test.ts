import { expect, test } from 'vitest';
import { type DurableStore, defineAgent, type Envelope, type RunId } from '../../src/index.ts';
import { type FakeClock, memoryStore } from '../../src/testing/index.ts';
import {
  appOf,
  gate,
  LEASE_OVER,
  settled,
  storeWithClock,
  typesOf,
  until,
  withClock,
} from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  codeOf,
  done,
  drained,
  everyEvent,
  pendingWait,
  writer,
} from './harness.ts';

const pieces = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${index} `);

/** Once around: paused, approved, ended. The log has two owners. */
async function ended(store: DurableStore = memoryStore()) {
  const app = await appOf(writer, [asks, { text: pieces(5) }], { store });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const { id } = await pendingWait(app, run.runId);
  await app.runs.resolve(id, { decision: 'approve' }, alice);
  await (await app.runs.resume(run.runId, alice)).result;
  return { app, runId: run.runId, store };
}

const numbers = (envelopes: readonly Envelope[]): readonly number[] =>
  envelopes.map(({ seq }) => seq);

test('from every cursor of a run that has ended, each event above it comes exactly once', async () => {
  const { app, runId } = await ended();
  const all = await everyEvent(app, runId);
  expect(numbers(all)).toEqual([...new Set(numbers(all))].sort((left, right) => left - right));
  expect(typesOf(all).filter((type) => type === 'run-finished')).toHaveLength(1);
  for (const [index, { seq }] of all.entries())
    expect(await everyEvent(app, runId, { after: seq })).toEqual(all.slice(index + 1));
  await app.close();
});

test('in another process, the log shows what its owner showed', async () => {
  const { app, runId, store } = await ended();
  const other = await appOf(writer, [], { store });
  expect(await everyEvent(other, runId)).toEqual(await everyEvent(app, runId));
  await Promise.all([app.close(), other.close()]);
});

test('a reader that goes on from where the run paused sees the second half only', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  const first = (await drained(app.runs.watch(run.runId, {}, alice))).flat();
  expect(first.at(-1)?.event.type).toBe('run-paused');
  const { id } = await pendingWait(app, run.runId);
  await app.runs.resolve(id, { decision: 'approve' }, alice);
  const after = first.at(-1)?.seq as number;
  const second = (await drained(app.runs.watch(run.runId, { after }, alice))).flat();
  expect([second[0]?.event.type, second.at(-1)?.event.type]).toEqual([
    'run-resumed',
    'run-finished',
  ]);
  expect(await everyEvent(app, run.runId)).toEqual([...first, ...second]);
  await app.close();
});

test('a run that is worked on is watched live, from every cursor, here', async () => {
  const hold = gate();
  const app = await appOf(writer, [{ text: pieces(4), until: hold.promise }], {
    store: memoryStore(),
  });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  const readers = [0, 1, 2, 3].map((after) => drained(app.runs.watch(run.runId, { after }, alice)));
  await settled();
  hold.open();
  const all = (await readers[0])?.flat() ?? [];
  expect(all.filter(({ event }) => event.type === 'message-delta')).toHaveLength(4);
  for (const [after, reader] of readers.entries())
    expect((await reader).flat()).toEqual(all.filter(({ seq }) => seq > after));
  const later = all.filter(({ seq }) => seq > (all[3]?.seq ?? 0));
  // The log keeps one time for the pieces of a text that it keeps together.
  const untimed = (envelopes: readonly Envelope[]) => envelopes.map(({ at: _, ...rest }) => rest);
  const logged = await everyEvent(app, run.runId, { after: all[3]?.seq ?? 0 });
  expect(untimed(logged)).toEqual(untimed(later));
  await app.close();
});

test('a run that another process works on is followed through the log to its end', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ text: pieces(4), until: hold.promise }], { store });
  const reader = await appOf(writer, [], { store });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const watched = drained(reader.runs.watch(run.runId, {}, alice));
  await settled();
  hold.open();
  const seen = (await watched).flat();
  expect(seen.at(-1)?.event.type).toBe('run-finished');
  expect(numbers(seen)).toEqual([...new Set(numbers(seen))]);
  expect(seen).toEqual(await everyEvent(owner, run.runId));
  await Promise.all([owner.close(), reader.close()]);
});

test('a log that cannot say when it changes is asked again soon', async () => {
  const { store, clock } = storeWithClock();
  const silent: DurableStore = { ...store, log: { read: (...given) => store.log.read(...given) } };
  const hold = gate();
  const provide = withClock(clock);
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store, provide });
  const reader = await appOf(writer, [], { store: silent, provide });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const watched = drained(reader.runs.watch(run.runId, {}, alice));
  await settled();
  hold.open();
  await run.result;
  await clock.advance(200);
  expect((await watched).flat().at(-1)?.event.type).toBe('run-finished');
  await Promise.all([owner.close(), reader.close()]);
});

test('a notification that is lost is made good by looking again', async () => {
  const { store, clock } = storeWithClock();
  const deaf: DurableStore = {
    ...store,
    log: { ...store.log, changed: () => new Promise(() => undefined) },
  };
  const hold = gate();
  const provide = withClock(clock);
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store, provide });
  const reader = await appOf(writer, [], { store: deaf, provide });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const watched = drained(reader.runs.watch(run.runId, {}, alice));
  await settled();
  hold.open();
  await run.result;
  await clock.advance(1_000);
  expect((await watched).flat().at(-1)?.event.type).toBe('run-finished');
  await Promise.all([owner.close(), reader.close()]);
});

test.each(['here', 'there'])(
  'a reader that leaves is let go at once, with its own reason (%s)',
  async (where) => {
    const store = memoryStore();
    const hold = gate();
    const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store });
    const other = await appOf(writer, [], { store });
    const run = await owner.start(writer, 'x', { principal: alice.principal });
    const leaving = new AbortController();
    const caller = { ...alice, signal: leaving.signal };
    const app = where === 'here' ? owner : other;
    const watched = drained(app.runs.watch(run.runId, {}, caller));
    await settled();
    const reason = new Error('The tab was closed.');
    leaving.abort(reason);
    await expect(watched).rejects.toBe(reason);
    hold.open();
    expect((await run.result).kind).toBe('completed');
    await Promise.all([owner.close(), other.close()]);
  },
);

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '3' as unknown as number])(
  'the cursor %s is no number of an event',
  async (after) => {
    const { app, runId } = await ended();
    expect(await codeOf(drained(app.runs.watch(runId, { after }, alice)))).toBe('CURSOR_INVALID');
    await app.close();
  },
);

test('a cursor of an owner that there has not been is refused; one that is too high within an owner waits for what comes', async () => {
  const { app, runId } = await ended();
  const all = await everyEvent(app, runId);
  const last = all.at(-1)?.seq as number;
  expect(await codeOf(drained(app.runs.watch(runId, { after: last + 2 ** 32 }, alice)))).toBe(
    'CURSOR_INVALID',
  );
  expect(await drained(app.runs.watch(runId, { after: last + 5 }, alice))).toEqual([]);
  await app.close();
});

test('a cursor whose events are gone is told so, and where to go on from', async () => {
  const { app, runId, store } = await ended();
  const pruned: DurableStore = {
    ...store,
    records: {
      ...store.records,
      head: async (id, stop) => {
        const head = await store.records.head(id, stop);
        return head && { ...head, prunedThrough: 4 };
      },
    },
  };
  const other = await appOf(writer, [], { store: pruned });
  expect(await codeOf(drained(other.runs.watch(runId, { after: 3 }, alice)))).toBe('EVENTS_PRUNED');
  expect((await drained(other.runs.watch(runId, { after: 4 }, alice))).length).toBeGreaterThan(0);
  await Promise.all([app.close(), other.close()]);
});

test('a run that is removed while it is watched ends its readers', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  let gone = false;
  const pruned: DurableStore = {
    ...store,
    records: {
      ...store.records,
      head: async (id, stop) => (gone ? undefined : store.records.head(id, stop)),
    },
    log: {
      read: async (id, query) => (gone ? [] : store.log.read(id, query)),
      changed: async (id, query) => {
        gone = true;
        return store.log.changed?.(id, { ...query, after: 0 });
      },
    },
  };
  const other = await appOf(writer, [], { store: pruned });
  const seen = (await drained(other.runs.watch(run.runId, {}, alice))).flat();
  expect(typesOf(seen)[0]).toBe('run-started');
  hold.open();
  await run.result;
  await Promise.all([owner.close(), other.close()]);
});

test('what is committed between the last read and the look at the run is still handed on', async () => {
  const { app, runId, store } = await ended();
  const all = await everyEvent(app, runId);
  let reads = 0;
  const racing: DurableStore = {
    ...store,
    log: {
      ...store.log,
      read: async (id, query) => {
        reads += 1;
        const rows = await store.log.read(id, query);
        return reads === 1 ? rows.slice(0, 3) : reads === 2 ? [] : rows;
      },
    },
  };
  const other = await appOf(writer, [], { store: racing });
  expect((await drained(other.runs.watch(runId, {}, alice))).flat()).toEqual(all);
  await Promise.all([app.close(), other.close()]);
});

test('a log of many pages is read to its end, also when a page ends at a pause', async () => {
  const many = defineAgent({
    ...{ name: 'many', recovery: 'action-boundary' as const, tools: writer.tools },
    limits: { maxSteps: 300 },
  });
  const steps = Array.from({ length: 30 }, () => ({
    calls: Array.from({ length: 1 }, () => ({ name: 'look', input: { id: 'a' } })),
  }));
  const app = await appOf(many, [...steps, done], { store: memoryStore() });
  const run = await app.start(many, 'x', { principal: alice.principal });
  expect((await run.result).kind).toBe('completed');
  const all = await everyEvent(app, run.runId);
  expect(all.length).toBeGreaterThan(300);
  expect(numbers(all)).toEqual([...new Set(numbers(all))].sort((left, right) => left - right));
  await app.close();
});

test('a page that ends exactly at a pause is no end', async () => {
  const { app, runId, store } = await ended();
  const all = await everyEvent(app, runId);
  const pause = all.findIndex(({ event }) => event.type === 'run-paused');
  const page = 200;
  const padded: DurableStore = {
    ...store,
    log: {
      ...store.log,
      read: async (id, query) => {
        const rows = await store.log.read(id, { ...query, limit: 10_000 });
        const end = rows.findIndex(({ event }) => event.type === 'run-paused');
        if (end === -1 || query.limit < page) return rows.slice(0, query.limit);
        // Rows that hold nothing above the cursor fill the page up to the pause.
        const [first] = rows;
        const filler = Array.from(
          { length: page - end - 1 },
          () => ({ ...first, firstSeq: 0, lastSeq: 0 }) as (typeof rows)[number],
        );
        return [...filler, ...rows.slice(0, end + 1)];
      },
    },
  };
  const other = await appOf(writer, [], { store: padded });
  const seen = (await drained(other.runs.watch(runId, {}, alice))).flat();
  expect(pause).toBeGreaterThan(0);
  expect(numbers(seen)).toEqual(numbers(all));
  await Promise.all([app.close(), other.close()]);
});

test('a slow reader of a long run loses its queue, not its cursor, and goes on from the log', async () => {
  const store = memoryStore();
  const long = defineAgent({
    name: 'long',
    recovery: 'action-boundary',
    tools: writer.tools,
    limits: { maxSteps: 50, maxToolCalls: 100 },
  });
  const steps = Array.from({ length: 7 }, () => ({
    text: pieces(900),
    calls: [{ name: 'look', input: { id: 'a' } }],
  }));
  const app = await appOf(long, [...steps, done], { store });
  const run = await app.start(long, 'x', { principal: alice.principal });
  const slow = app.runs.watch(run.runId, {}, alice)[Symbol.asyncIterator]();
  const handed = run.events()[Symbol.asyncIterator]();
  const fromFeed = [(await handed.next()).value as Envelope];
  const fromDoor = [...((await slow.next()).value as readonly Envelope[])];
  expect((await run.result).kind).toBe('completed');
  for (let next = await slow.next(); next.done !== true; next = await slow.next())
    fromDoor.push(...next.value);
  for (let next = await handed.next(); next.done !== true; next = await handed.next())
    fromFeed.push(next.value as Envelope);
  expect(fromDoor.length).toBeGreaterThan(6_000);
  expect(numbers(fromDoor)).toEqual(
    [...new Set(numbers(fromDoor))].sort((left, right) => left - right),
  );
  expect(numbers(fromFeed)).toEqual(numbers(fromDoor));
  expect(fromDoor.at(-1)?.event.type).toBe('run-finished');
  const text = fromDoor.filter(({ event }) => event.type === 'message-delta');
  expect(text).toHaveLength(7 * 900 + 1);
  await app.close();
});

/** The second owner of a run, whose model waits: its feed does not have what the first one showed. */
async function takenOver(
  store: DurableStore,
  clock: FakeClock,
  wrapped: (real: DurableStore) => DurableStore,
) {
  const never = new Promise(() => undefined);
  const gone = await appOf(writer, [{ text: 'x', until: never }], { store });
  const run = await gone.start(writer, 'x', { principal: alice.principal });
  await clock.advance(LEASE_OVER);
  const hold = gate();
  const app = await appOf(writer, [{ text: 'Mine.', until: hold.promise }], {
    store: wrapped(store),
  });
  return { gone, app, hold, runId: run.runId };
}

test('a log that lags behind its owner is asked again until it has caught up', async () => {
  const { store, clock } = storeWithClock();
  let lags = 3;
  const { gone, app, hold, runId } = await takenOver(store, clock, (real) => ({
    ...real,
    log: {
      ...real.log,
      read: async (...given) => {
        lags -= 1;
        return lags > 0 ? [] : real.log.read(...given);
      },
    },
  }));
  const driven = app.drive(runId, { signal: alice.signal });
  await until(() => app.model.requests.length === 1);
  const watched = drained(app.runs.watch(runId, {}, alice));
  await until(() => lags <= 0);
  hold.open();
  await driven;
  const seen = (await watched).flat();
  expect([seen[0]?.event.type, seen.at(-1)?.event.type]).toEqual(['run-started', 'run-finished']);
  await Promise.all([gone.close(), app.close()]);
});

test.each(['log', 'head'])(
  'a run that this process takes up while its %s is read is joined',
  async (what) => {
    const { store, clock } = storeWithClock();
    let reading: string | undefined;
    const taken = async (): Promise<void> => {
      reading = undefined;
      void app.drive(runId, { signal: alice.signal });
      await until(() => app.model.requests.length === 1);
    };
    const { gone, app, hold, runId } = await takenOver(store, clock, (real) => ({
      ...real,
      log: {
        ...real.log,
        read: async (...given) => {
          const rows = await real.log.read(...given);
          if (reading === 'log') await taken();
          return rows;
        },
      },
      records: {
        ...real.records,
        head: async (...given) => {
          const head = await real.records.head(...given);
          if (reading === 'head') await taken();
          return head;
        },
      },
    }));
    const watched = app.runs.watch(runId, {}, alice)[Symbol.asyncIterator]();
    const seen = [...((await watched.next()).value as readonly Envelope[])];
    reading = what;
    for (let item = await watched.next(); item.done !== true; item = await watched.next()) {
      seen.push(...item.value);
      hold.open();
    }
    expect(seen.at(-1)?.event.type).toBe('run-finished');
    expect(numbers(seen)).toEqual([...new Set(numbers(seen))]);
    await Promise.all([gone.close(), app.close()]);
  },
);

test('a run that was never there has nothing to watch', async () => {
  const app = await appOf(writer, [], { store: memoryStore() });
  expect(await codeOf(drained(app.runs.watch('rnowhere' as RunId, {}, acme)))).toBe(
    'RUN_NOT_FOUND',
  );
  await app.close();
});

test('a reader that asks twice at once gets both batches in their order, and one that is refused gets neither', async () => {
  const hold = gate();
  const app = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  const reader = app.runs.watch(run.runId, {}, alice)[Symbol.asyncIterator]();
  const both = Promise.all([reader.next(), reader.next()]);
  hold.open();
  const [first, second] = await both;
  expect(numbers([...(first.value ?? []), ...(second.value ?? [])])).toEqual(
    numbers((await everyEvent(app, run.runId)).slice(0, first.value.length + second.value.length)),
  );
  const foreign = app.runs.watch(run.runId, {}, bob)[Symbol.asyncIterator]();
  const refused = [foreign.next(), foreign.next()].map((next) => codeOf(next));
  expect(await Promise.all(refused)).toEqual(['RUN_NOT_FOUND', 'RUN_NOT_FOUND']);
  expect(await foreign.next()).toEqual({ done: true, value: undefined });
  await app.close();
});

test('a reader that stops is let go at once, while it waits for the owner and while it waits for the log', async () => {
  const store = memoryStore();
  const hold = gate();
  const owner = await appOf(writer, [{ text: 'Hi.', until: hold.promise }], { store });
  const other = await appOf(writer, [], { store });
  const run = await owner.start(writer, 'x', { principal: alice.principal });
  const over = { done: true, value: undefined };
  const here = owner.runs.watch(run.runId, {}, alice)[Symbol.asyncIterator]();
  await here.next();
  await settled();
  let waiting = here.next();
  // What was shown already comes first.
  while ((await Promise.race([waiting, settled().then(() => 'waits')])) !== 'waits')
    waiting = here.next();
  expect(await here.return?.()).toEqual(over);
  expect(await waiting).toEqual(over);
  const there = other.runs.watch(run.runId, {}, alice)[Symbol.asyncIterator]();
  await there.next();
  const reading = there.next();
  expect(await there.return?.()).toEqual(over);
  expect(await there.next()).toEqual(over);
  hold.open();
  await run.result;
  await reading;
  expect(await there.next()).toEqual(over);
  await Promise.all([owner.close(), other.close()]);
});
