import { runIdOf } from '../../base/ids.ts';
import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import { ending, inStatus, message, pausing } from './samples.ts';
import { storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';
import { commitOf, everything, sortedByRun } from './whole-commit.ts';

/** `commit`: who may write, and what is said when it is sent again. */
export const superseding: readonly Rule<StoreSubject>[] = [
  storeRule('the same commit again is committed, and writes nothing', async (bench) => {
    const { run, lease } = await bench.started();
    const commit = { ...everything(run), commitId: bench.name('commit') };
    const { version } = await bench.committed(lease, commit);
    const again = await unchanged(bench, run.runId, () => bench.commit(lease, commit));
    same(again, { kind: 'committed', version }, 'the second answer');
    await bench.committed(
      { ...lease, version },
      { lastSeq: commit.lastSeq, openSteps: commit.openSteps },
    );
  }),
  storeRule(
    'the last commit again is committed, also after it released or ended the run',
    async (bench) => {
      for (const kind of ['release', 'end'] as const) {
        const { run, lease } = await bench.started();
        const last = kind === 'end' ? ending(run) : pausing(run);
        const commit = { ...last, commitId: bench.name('commit') };
        const next = await bench.committed(lease, commit);
        const again = await unchanged(bench, run.runId, () => bench.commit(lease, commit));
        same(again.kind, 'committed', `the same commit after ${kind}`);
        const other = await unchanged(bench, run.runId, () => bench.commit(next, commitOf(run)));
        same(other.kind, 'superseded', `another commit after ${kind}`);
      }
    },
  ),
  storeRule('only the last commit is known again', async (bench) => {
    const { run, lease } = await bench.started();
    const first = { ...commitOf(run), commitId: bench.name('commit') };
    await bench.committed(lease, first).then((next) => bench.committed(next, {}));
    const again = await unchanged(bench, run.runId, () => bench.commit(lease, first));
    same(again.kind, 'superseded', 'the commit before the last');
  }),
  storeRule('under a newer fence a commit is superseded, also if it was applied', async (bench) => {
    const { run, lease } = await bench.started();
    const active = { runs: [inStatus(run, 'active')], release: { lastSeenSeq: 0 } };
    const commit = { ...active, commitId: bench.name('commit') };
    const old = await bench.committed(lease, commit);
    const newer = present(await bench.claim(run.runId, { owner: lease.owner }), 'the newer lease');
    for (const [what, stale, sent] of [
      ['the applied commit', lease, commit],
      ['another commit', old, commitOf(run)],
      [
        'a commit of the old fence and the new version',
        { ...newer, fence: lease.fence },
        commitOf(run),
      ],
    ] as const) {
      const answer = await unchanged(bench, run.runId, () => bench.commit(stale, sent));
      same(answer, { kind: 'superseded' }, what);
    }
    await bench.committed(newer, commitOf(run));
  }),
  storeRule('another owner or another version of the same fence is superseded', async (bench) => {
    const { run, lease } = await bench.started();
    const next = await bench.committed(lease, {});
    for (const [what, other] of [
      ['another owner', { ...next, owner: 'somebody else' }],
      ['the version before', { ...next, version: lease.version }],
      ['a version that is not yet', { ...next, version: next.version + 1 }],
      ['a fence that is not yet', { ...next, fence: next.fence + 1 }],
    ] as const) {
      const answer = await unchanged(bench, run.runId, () => bench.commit(other, commitOf(run)));
      same(answer, { kind: 'superseded' }, what);
    }
    await bench.committed(next, commitOf(run));
  }),
  storeRule('a commit of an unknown run is superseded', async (bench) => {
    const { lease } = await bench.started();
    const rootRunId = runIdOf(`r${bench.name('unknown')}`);
    const answer = await bench.commit({ ...lease, rootRunId }, {});
    same(answer, { kind: 'superseded' }, 'the answer');
  }),
  storeRule(
    'superseded is answered before the inbox and the values are looked at',
    async (bench) => {
      const { run, lease } = await bench.started();
      await bench.append(run.runId, 'user-message');
      const value = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'k' };
      const values = [{ ...value, value: { plain: 1 }, expect: 9 }];
      const moved = { ...pausing(run), values };
      const stale = await bench.commit({ ...lease, version: lease.version + 1 }, moved);
      same(stale.kind, 'superseded', 'a commit of another version');
      same((await bench.commit(lease, moved)).kind, 'inbox-moved', 'a commit of the owner');
    },
  ),
  storeRule('of two commits at once exactly one is committed', async (bench) => {
    const { run, lease } = await bench.started();
    const commits = [1, 2, 3, 4].map((n) =>
      bench.commit(lease, { ...commitOf(run), messages: [message(run.runId, 1, `${n}`)] }),
    );
    const answers = await Promise.all(commits);
    const kinds = answers.map(({ kind }) => kind).sort();
    same(kinds, ['committed', 'superseded', 'superseded', 'superseded'], 'the answers');
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    const winner = answers.findIndex(({ kind }) => kind === 'committed');
    same(tree.messages, [message(run.runId, 1, `${winner + 1}`)], 'the messages');
  }),
  storeRule('the same commit twice at once is committed twice and written once', async (bench) => {
    const { run, lease } = await bench.started();
    const commit = { ...everything(run), commitId: bench.name('commit') };
    const answers = await Promise.all([bench.commit(lease, commit), bench.commit(lease, commit)]);
    same(
      answers.map(({ kind }) => kind),
      ['committed', 'committed'],
      'the answers',
    );
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    same(sortedByRun(tree.messages), sortedByRun(commit.messages), 'the messages');
  }),
];
