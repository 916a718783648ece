import { expect, test } from 'vitest';
import type { DurableStore, EvidenceRow } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/index.ts';
import { appOf } from '../behaviours/harness.ts';
import {
  acme,
  alice,
  asks,
  bob,
  codeOf,
  done,
  NOBODY,
  pendingWait,
  rival,
  writer,
} from './harness.ts';

/** A run that was asked, approved and has ended. */
async function ended(store: DurableStore = memoryStore()) {
  const app = await appOf(writer, [asks, done], { store });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const { id } = await pendingWait(app, run.runId);
  await app.runs.resolve(id, { decision: 'approve' }, alice);
  await (await app.runs.resume(run.runId, alice)).result;
  return { app, runId: run.runId, store };
}

/** The same store with other rows of evidence. */
const showing = (
  store: DurableStore,
  alter: (rows: readonly EvidenceRow[]) => readonly EvidenceRow[],
): DurableStore => ({
  ...store,
  records: {
    ...store.records,
    evidence: async (root, { after, limit, signal }) =>
      alter(await store.records.evidence(root, { after: 0, limit: 1_000, signal }))
        .filter(({ seq }) => seq > after)
        .slice(0, limit),
  },
});

test('a run that has ended verifies, row for row, for its owner and for an operator of the tenant', async () => {
  const { app, runId } = await ended();
  const rows = await app.runs.evidence(runId, {}, alice);
  const report = { rows: rows.length, erased: 0, lastHash: rows.at(-1)?.hash };
  expect(await app.runs.verify(runId, alice)).toEqual(report);
  expect(await app.runs.verify(runId, acme)).toEqual(report);
});

test('a run that waits verifies as far as it is', async () => {
  const app = await appOf(writer, [asks], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  expect(await app.runs.verify(run.runId, alice)).not.toHaveProperty('fault');
});

test('a row that was altered in the store is pinpointed', async () => {
  const { runId, store } = await ended();
  const altered = showing(store, (rows) =>
    rows.map((row) => (row.seq === 4 ? { ...row, payload: { decision: 'approve' } } : row)),
  );
  const app = await appOf(writer, [], { store: altered });
  expect(await app.runs.verify(runId, alice)).toMatchObject({
    rows: 3,
    fault: { seq: 4, kind: 'digest' },
  });
});

test('rows that were taken off the end are missed: the run counts them', async () => {
  const { runId, store } = await ended();
  const app = await appOf(writer, [], { store: showing(store, (rows) => rows.slice(0, -2)) });
  expect(await app.runs.verify(runId, alice)).toMatchObject({ fault: { kind: 'short' } });
});

test('a trail without a count is verified as it is', async () => {
  const { runId, store } = await ended();
  const uncounted: DurableStore = {
    ...showing(store, (rows) => rows.slice(0, -2)),
  };
  const app = await appOf(writer, [], {
    store: {
      ...uncounted,
      records: {
        ...uncounted.records,
        head: async (id, stop) => {
          const head = await store.records.head(id, stop);
          return head && { ...head, run: { ...head.run, counters: {} } };
        },
      },
    },
  });
  expect(await app.runs.verify(runId, alice)).not.toHaveProperty('fault');
});

test('the trail of a long run is read in pages', async () => {
  const { runId, store } = await ended();
  const limits: number[] = [];
  const counting: DurableStore = {
    ...store,
    records: {
      ...store.records,
      evidence: async (root, query) => {
        limits.push(query.limit);
        return store.records.evidence(root, { ...query, limit: 3 });
      },
    },
  };
  const app = await appOf(writer, [], { store: counting });
  const { rows } = await app.runs.verify(runId, alice);
  expect(limits).toEqual(Array.from({ length: Math.ceil(rows / 3) + 1 }, () => 500));
});

test('an erased row says nothing any more, is counted, and the chain holds', async () => {
  const { app, runId } = await ended();
  const before = await app.runs.evidence(runId, {}, alice);
  expect(await app.runs.eraseEvidence(runId, [2, 3, 3, 999], alice)).toBe(2);
  const after = await app.runs.evidence(runId, {}, alice);
  expect(after.map(({ payload }) => payload === undefined)).toEqual(
    before.map(({ seq }) => seq === 2 || seq === 3),
  );
  expect(after.map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
  expect(await app.runs.verify(runId, alice)).toEqual({
    rows: before.length,
    erased: 2,
    lastHash: before.at(-1)?.hash,
  });
  expect(await app.runs.eraseEvidence(runId, [2], alice)).toBe(0);
});

test('a run whose evidence is erased while it waits goes on, and its chain holds', async () => {
  const app = await appOf(writer, [asks, done], { store: memoryStore() });
  const run = await app.start(writer, 'x', { principal: alice.principal });
  await run.result;
  const rows = await app.runs.evidence(run.runId, {}, alice);
  await app.runs.eraseEvidence(
    run.runId,
    rows.map(({ seq }) => seq),
    alice,
  );
  const { id } = await pendingWait(app, run.runId);
  await app.runs.resolve(id, { decision: 'approve' }, alice);
  expect((await (await app.runs.resume(run.runId, alice)).result).kind).toBe('completed');
  expect(await app.runs.verify(run.runId, alice)).toMatchObject({ erased: rows.length });
  expect(await app.runs.verify(run.runId, alice)).not.toHaveProperty('fault');
});

test.each([
  [[]],
  [[0]],
  [[1.5]],
  [['3' as unknown as number]],
  [Array.from({ length: 501 }, (_, index) => index + 1)],
  ['all' as unknown as number[]],
])('the rows %j are refused, and nothing is erased', async (rows) => {
  const { app, runId } = await ended();
  expect(await codeOf(app.runs.eraseEvidence(runId, rows, alice))).toBe('INPUT_INVALID');
  expect(await app.runs.verify(runId, alice)).toMatchObject({ erased: 0 });
});

test('a foreign run can neither be verified nor erased, and nobody is let in without a principal', async () => {
  const { app, runId } = await ended();
  for (const caller of [bob, rival]) {
    expect(await codeOf(app.runs.verify(runId, caller))).toBe('RUN_NOT_FOUND');
    expect(await codeOf(app.runs.eraseEvidence(runId, [1], caller))).toBe('RUN_NOT_FOUND');
  }
  for (const caller of NOBODY) {
    expect(await codeOf(() => app.runs.verify(runId, caller))).toBe('PRINCIPAL_REQUIRED');
    expect(await codeOf(() => app.runs.eraseEvidence(runId, [1], caller))).toBe(
      'PRINCIPAL_REQUIRED',
    );
  }
  expect(await app.runs.verify(runId, alice)).toMatchObject({ erased: 0 });
});
