import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type DurableStore,
  type Envelope,
  envelopesOf,
  type RunId,
  rowsOf,
} from '../../src/index.ts';
import { memoryStore, type ScriptStep } from '../../src/testing/index.ts';
import {
  appOf,
  calls,
  LEASE_OVER,
  NEVER,
  processOver,
  storeWithClock,
} from '../behaviours/harness.ts';
import { alice, drained, everyEvent, writer } from './harness.ts';

const as = { principal: alice.principal };

/** An answer of some pieces, or a batch of reads. */
const step = fc.oneof(
  fc
    .array(fc.string({ maxLength: 3, unit: 'grapheme' }), { minLength: 1, maxLength: 9 })
    .map((text): ScriptStep => ({ text, ...calls(['look', 'a']) })),
  fc
    .integer({ min: 1, max: 3 })
    .map((count) => calls(...Array.from({ length: count }, (_, n) => ['look', `${n}`] as const))),
);

/** The pieces of a text that are stored together share one time. */
const untimed = (events: readonly Envelope[]) => events.map(({ at: _, ...rest }) => rest);

/** A run that one or two owners have worked on. */
async function played(steps: readonly ScriptStep[], dieAt: number | undefined) {
  const { store, clock } = storeWithClock();
  const flushing: DurableStore = { ...store, liveFlushMs: 0 };
  const dying = processOver(flushing, (_commit, count) =>
    count === dieAt ? 'die-before' : undefined,
  );
  const last = { text: ['The', ' end', '.'] };
  const first = await appOf(writer, [...steps, last], { store: dying.store });
  const run = await first.start(writer, 'x', as);
  await Promise.race([run.result, dying.dead]);
  await clock.advance(LEASE_OVER);
  const left = steps.slice(first.model.requests.length - 1);
  const second = await appOf(writer, [...left, last], { store: flushing });
  await second.recover({ signal: NEVER });
  return { app: second, store, runId: run.runId };
}

test('from any cursor a reader gets exactly the rest, whatever the run was, whoever owned it, and however the log is paged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 3 }),
      fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, dieAt, page) => {
        const { app, store, runId } = await played(steps, dieAt);
        const all = await everyEvent(app, runId);
        expect(all.at(-1)?.event.type).toBe('run-finished');
        expect(all.map(({ seq }) => seq)).toEqual(
          [...new Set(all.map(({ seq }) => seq))].sort((a, b) => a - b),
        );
        const paged: DurableStore = {
          ...store,
          log: { read: (id, query) => store.log.read(id, { ...query, limit: page }) },
        };
        const reader = await appOf(writer, [], { store: paged });
        for (const [index, { seq }] of all.entries()) {
          expect(await read(reader, runId, seq)).toEqual(all.slice(index + 1));
        }
        await Promise.all([app.close(), reader.close()]);
      },
    ),
    { numRuns: 25 },
  );
});

async function read(app: Awaited<ReturnType<typeof appOf>>, runId: RunId, after: number) {
  const events: Envelope[] = [];
  // A page that is not full ends a watch only when the run is over, so a small page needs no second watch.
  for (let cursor = after; ; cursor = events.at(-1)?.seq ?? cursor) {
    const more = (await drained(app.runs.watch(runId, { after: cursor }, alice))).flat();
    if (more.length === 0) return events;
    events.push(...more);
  }
}

test('rows give back the events that they were made of, from every cursor', () => {
  const kind = fc.constantFrom(
    'message-delta',
    'reasoning-delta',
    'tool-call-args-delta',
    'progress',
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          kind,
          of: fc.constantFrom('a', 'b'),
          gap: fc.boolean(),
          text: fc.string({ maxLength: 4 }),
        }),
        { maxLength: 20 },
      ),
      (given) => {
        let seq = 2 ** 32;
        const events = given.map(({ kind: type, of, gap, text }): Envelope => {
          seq += gap ? 3 : 1;
          const event = (
            type === 'progress'
              ? { type, message: text }
              : type === 'message-delta'
                ? { type, messageId: of, delta: text }
                : type === 'reasoning-delta'
                  ? { type, reasoningId: of, delta: text }
                  : { type, callId: of, delta: text }
          ) as Envelope['event'];
          const place = {
            rootRunId: 'r1' as RunId,
            runId: 'r1' as RunId,
            agent: 'a',
            stepId: 'r1.s1',
          };
          return { ...place, seq, at: 0, event };
        });
        const rows = rowsOf(events);
        const from = (after: number) =>
          rows.flatMap((row) => envelopesOf(row, { rootRunId: 'r1' as RunId, after }));
        expect(from(0)).toEqual(events);
        for (const { seq: after } of events)
          expect(from(after)).toEqual(events.filter((event) => event.seq > after));
      },
    ),
  );
});

test('a reader that cannot keep up loses its queue and not its cursor: it goes on from the log, and misses nothing', async () => {
  const pieces = Array.from({ length: 9_000 }, (_, n) => `${n} `);
  const store = memoryStore();
  const app = await appOf(writer, [{ text: pieces }], { store });
  const run = await app.start(writer, 'x', as);
  const slow = app.runs.watch(run.runId, {}, alice)[Symbol.asyncIterator]();
  const first = await slow.next();
  await run.result;
  const events: Envelope[] = [...(first.value ?? [])];
  for (let next = await slow.next(); next.done !== true; next = await slow.next())
    events.push(...next.value);
  expect(untimed(events)).toEqual(untimed(await everyEvent(app, run.runId)));
  const text = events.flatMap(({ event }) => (event.type === 'message-delta' ? [event.delta] : []));
  expect(text).toEqual(pieces);
});

test('a reader in another process follows live what is flushed, piece by piece', async () => {
  const store: DurableStore = { ...memoryStore(), liveFlushMs: 0 };
  const never = new Promise<undefined>(() => undefined);
  // Its answer never reaches the store: whatever is seen elsewhere was flushed.
  const stuck = processOver(store, (commit) => (commit.progress ? never : undefined));
  const owner = await appOf(writer, [{ text: ['Hel', 'lo'] }], { store: stuck.store });
  const reader = await appOf(writer, [], { store });
  const run = await owner.start(writer, 'x', as);
  const seen: string[] = [];
  for await (const batch of reader.runs.watch(run.runId, {}, alice)) {
    for (const { event } of batch) if (event.type === 'message-delta') seen.push(event.delta);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(['Hel', 'lo']);
});
