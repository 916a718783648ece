import type { RunId } from '../../base/ids.ts';
import type { EvidenceRow } from '../../vocabulary/evidence.ts';
import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import {
  ending,
  evidenceRow,
  inStatus,
  LONG_AGO,
  message,
  question,
  settling,
  waitIdFor,
} from './samples.ts';
import { recordOf, type StoreBench, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** Evidence, and what retention leaves of a run. */
export const evidencing: readonly Rule<StoreSubject>[] = [
  storeRule('evidence is read in order, above a number, in pages', async (bench) => {
    const { run, lease } = await bench.started();
    const rows = Array.from({ length: 12 }, (_, index) => evidenceRow(run.runId, index + 1));
    const next = await bench.committed(lease, { evidence: rows.slice(0, 5) });
    await bench.committed(next, { evidence: rows.slice(5) });
    same(await evidence(bench, run.runId), rows, 'all');
    same(
      await evidence(bench, run.runId, { after: 4, limit: 3 }),
      rows.slice(4, 7),
      'three after number 4',
    );
    same(await evidence(bench, run.runId, { after: 12 }), [], 'after the last');
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    same(tree.lastEvidence, rows[11], 'the last row, as load tells it');
  }),
  storeRule('evidence is found by the manifest that it refers to', async (bench) => {
    const { run, lease } = await bench.started();
    const rows = ['a', undefined, 'b', 'a'].map((manifestRef, index) => {
      const row = evidenceRow(run.runId, index + 1);
      return manifestRef === undefined ? row : { ...row, manifestRef };
    });
    await bench.committed(lease, { evidence: rows });
    same(
      await evidence(bench, run.runId, { manifestRef: 'a' }),
      [rows[0], rows[3]],
      'the rows of a',
    );
    same(
      await evidence(bench, run.runId, { manifestRef: 'a', after: 1 }),
      [rows[3]],
      'after number 1',
    );
    same(await evidence(bench, run.runId, { manifestRef: 'c' }), [], 'the rows of c');
  }),
  storeRule('erasing blanks payload and salt, and keeps every hash', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const rows = [1, 2, 3].map((seq) => evidenceRow(run.runId, seq));
    await bench.committed(lease, { evidence: rows });
    const other = await bench.started();
    await bench.committed(other.lease, { evidence: [evidenceRow(other.run.runId, 1)] });
    same(await store.records.erase(run.runId, [1, 3, 99], stop), 2, 'how many were erased');
    const erased = rows.map(({ payload: _, salt: __, ...row }) => row);
    same(await evidence(bench, run.runId), [erased[0], rows[1], erased[2]], 'the rows');
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    same(tree.lastEvidence, erased[2], 'the last row, as load tells it');
    same(await store.records.erase(run.runId, [1, 3], stop), 0, 'how many were erased again');
    same(await store.records.erase(run.runId, [], stop), 0, 'how many of none');
    same(await evidence(bench, other.run.runId), [evidenceRow(other.run.runId, 1)], 'another run');
  }),

  storeRule('pruning removes runs that ended before an instant, of one scope', async (bench) => {
    const old = await ended(bench, LONG_AGO + 1);
    const young = await ended(bench, LONG_AGO + 1_000);
    const { run: paused, lease } = await bench.started();
    await bench.committed(lease, {
      runs: [inStatus(paused, 'interrupted')],
      release: { lastSeenSeq: 0 },
    });
    const kept = [await recordOf(bench, young), await recordOf(bench, paused.runId)];
    const { scope } = bench.principal;
    const query = { endedBefore: LONG_AGO + 500, keep: 'nothing', ...bench.stop } as const;
    const foreign = { ...scope, userId: bench.name('user') };
    same(await bench.store.records.prune({ ...query, scope: foreign }), 0, 'of another user');
    same(await bench.store.records.prune({ ...query, scope }), 1, 'of this user');
    same(
      [await recordOf(bench, young), await recordOf(bench, paused.runId)],
      kept,
      'the other runs',
    );
    const gone = { head: undefined, tree: undefined, events: [], evidence: [], signals: [] };
    same(await recordOf(bench, old), gone, 'the pruned run');
    same(await bench.store.records.prune({ ...query, scope }), 0, 'a second time');
  }),
  storeRule('a pruned run is neither listed nor remembered', async (bench) => {
    const { store, stop, principal, agent } = bench;
    const { scope } = principal;
    for (const keep of ['nothing', 'evidence'] as const) {
      const { run, lease } = await bench.started();
      const messages = [message(run.runId, 1, 'forget me')];
      const next = await bench.committed(lease, { messages, opens: [question(run, 1)] });
      await bench.committed(next, settling(run));
      const { conversationId } = run;
      same(await store.records.prune({ endedBefore: LONG_AGO + 1, keep, scope, ...stop }), 1, keep);
      same(
        await store.conversations.turns(conversationId, { scope, last: 9, ...stop }),
        [],
        `the turns, keep ${keep}`,
      );
      const waits = await store.records.waits({ scope, limit: 9, ...stop });
      same(waits.items, [], `the waits, keep ${keep}`);
      const decision = 'approve' as const;
      const answer = {
        digest: 'digest 1',
        decision,
        resolution: { plain: { decision } },
        by: 'someone',
      };
      same(
        await store.inbox.resolve(waitIdFor(run, 1), answer, stop),
        { kind: 'unknown' },
        `an answer, keep ${keep}`,
      );
      if (keep === 'evidence') continue;
      const runs = await store.records.runs({ scope, agent, limit: 9, ...stop });
      same(runs.items, [], 'the runs');
    }
  }),
  storeRule(
    'pruning may keep the evidence, and the head that lets somebody read it',
    async (bench) => {
      const { store, stop } = bench;
      const runId = await ended(bench, LONG_AGO + 1);
      const before = await store.records.head(runId, stop);
      const rows = await evidence(bench, runId);
      const { scope } = bench.principal;
      const query = { endedBefore: LONG_AGO + 500, scope, ...stop };
      same(await store.records.prune({ ...query, keep: 'evidence' }), 1, 'how many were pruned');
      same(await evidence(bench, runId), rows, 'the evidence');
      // What is left of the run says that its events are gone.
      const after = present(before, 'the head before');
      const head = { ...after, prunedThrough: after.lastSeq };
      same(await store.records.head(runId, stop), head, 'the head');
      same(await store.records.load(runId, stop), undefined, 'the tree');
      same(await store.log.read(runId, { after: 0, limit: 9, ...stop }), [], 'the log');
      same(await bench.append(runId, 'user-message'), 'terminal', 'a signal');
      same(await store.records.prune({ ...query, keep: 'evidence' }), 0, 'a second time');
      same(await store.records.prune({ ...query, keep: 'nothing' }), 1, 'all of it later');
      same(await store.records.head(runId, stop), undefined, 'the head after that');
    },
  ),
];

/** A run with a row of most kinds that has ended. */
async function ended(bench: StoreBench, at: number): Promise<RunId> {
  const { run, lease } = await bench.started();
  const next = await bench.committed(lease, {
    messages: [message(run.runId, 1, 'hello')],
    evidence: [evidenceRow(run.runId, 1), evidenceRow(run.runId, 2)],
  });
  await bench.committed(next, ending(run, { at }));
  return run.runId;
}

function evidence(
  { store, stop }: StoreBench,
  rootRunId: RunId,
  query: { readonly after?: number; readonly limit?: number; readonly manifestRef?: string } = {},
): Promise<readonly EvidenceRow[]> {
  return store.records.evidence(rootRunId, { after: 0, limit: 100, ...query, ...stop });
}
