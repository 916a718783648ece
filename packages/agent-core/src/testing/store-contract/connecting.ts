import { systemClock } from '../../base/clock.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, same } from './assert.ts';
import { ending, eventRow, inStatus, message, pausing, question, waitIdFor } from './samples.ts';
import { recordOf, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** Milliseconds, and how many of them are measured. */
const TICK = 10;
const TICKS = 15;
const LONGEST_STOP = 50;

const needs = { needs: 'second-connection' } as const;

/** What one process writes, another sees at once. */
export const connecting: readonly Rule<StoreSubject>[] = [
  storeRule(
    'another connection sees everything at once',
    async (bench) => {
      const other = await bench.another();
      const { run, lease } = await bench.started();
      same(await recordOf(other, run.runId), await recordOf(bench, run.runId), 'after create');
      const event = eventRow(run, 1);
      const messages = [message(run.runId, 1, 'hello')];
      await bench.committed(lease, {
        runs: [inStatus(run, 'active')],
        messages,
        events: [event],
        lastSeq: event.lastSeq,
        opens: [question(run, 1)],
      });
      await other.append(run.runId, 'user-message');
      same(
        await recordOf(other, run.runId),
        await recordOf(bench, run.runId),
        'after commit and append',
      );
      const place = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'key' };
      await bench.store.values.put({ ...place, value: { plain: 1 } }, bench.stop);
      same((await other.store.values.get(place, other.stop))?.value, { plain: 1 }, 'a value');
    },
    needs,
  ),
  storeRule(
    'another connection cannot claim what is owned, and supersedes it once it is given back',
    async (bench) => {
      const other = await bench.another();
      const { run, lease } = await bench.started();
      same(await other.claim(run.runId), undefined, 'a claim of an owned run');
      const release = {
        runs: [inStatus(run, 'active')],
        release: { lastSeenSeq: 0 },
        commitId: bench.name('commit'),
      };
      await bench.committed(lease, release);
      const newer = present(await other.claim('next'), 'a claim of the run that was given back');
      same(newer.fence, lease.fence + 1, 'the fence');
      const late = await unchanged(bench, run.runId, () => bench.commit(lease, release));
      same(late, { kind: 'superseded' }, 'the old owner’s commit');
      const beat = await bench.store.ownership.heartbeat([lease], bench.stop);
      same(beat.lost, [run.runId], 'the old owner’s heartbeat');
      await other.committed(newer, ending(run));
    },
    needs,
  ),
  storeRule(
    'an answer through another connection is seen by the owner’s next release',
    async (bench) => {
      const other = await bench.another();
      const { run, lease } = await bench.started();
      const next = await bench.committed(lease, { opens: [question(run, 1)] });
      const decision = 'approve' as const;
      const answer = {
        digest: 'digest 1',
        decision,
        resolution: { plain: { decision } },
        by: 'someone',
      };
      const { kind } = await other.store.inbox.resolve(waitIdFor(run, 1), answer, other.stop);
      same(kind, 'resolved', 'the answer');
      const beat = await bench.store.ownership.heartbeat([next], bench.stop);
      same(beat, { lost: [], signalled: [run.runId] }, 'the heartbeat');
      same((await bench.commit(next, pausing(run))).kind, 'inbox-moved', 'the release');
      await bench.committed(next, { ...pausing(run, 1), consume: [1], progress: true });
    },
    needs,
  ),
  storeRule(
    'two connections that race for one run: one lease, one end',
    async (bench) => {
      const other = await bench.another();
      for (let round = 0; round < 6; round += 1) {
        const run = bench.run();
        await bench.create(run);
        present(await other.store.records.head(run.runId, other.stop), 'the run, over there');
        const leases = await Promise.all(
          [bench, other].map((side, n) => side.claim(run.runId, { owner: `owner ${n}` })),
        );
        const claimed = leases.filter((lease) => lease !== undefined);
        ensure(claimed.length === 1, 'exactly one lease', leases);
        const [lease] = claimed;
        const sides = [bench, other, bench, other];
        const ends = await Promise.all(
          sides.map((side) => side.commit(present(lease, 'the lease'), ending(run))),
        );
        const kinds = ends.map(({ kind }) => kind).sort();
        same(kinds, ['committed', 'superseded', 'superseded', 'superseded'], 'the ends');
      }
    },
    needs,
  ),
  storeRule(
    'two connections that race for one conversation: one run is open',
    async (bench) => {
      const other = await bench.another();
      for (let round = 0; round < 6; round += 1) {
        const conversationId = bench.name('conversation');
        const sides = [bench, other, bench, other];
        const answers = await Promise.all(
          sides.map((side) => side.create(side.run({ conversationId }))),
        );
        const kinds = answers.map(({ kind }) => kind).sort();
        same(
          kinds,
          ['conversation-busy', 'conversation-busy', 'conversation-busy', 'created'],
          'the answers',
        );
      }
    },
    needs,
  ),
  storeRule(
    'a commit that waits for a lock does not stop the process',
    async (bench) => {
      const { run, lease } = await bench.started();
      const release = await bench.hold();
      const gaps: number[] = [];
      let last = systemClock.monotonic();
      const commit = bench.commit(lease, { runs: [inStatus(run, 'active')] });
      commit.catch(() => {});
      while (gaps.length < TICKS) {
        await systemClock.sleep(TICK, bench.stop);
        const now = systemClock.monotonic();
        gaps.push(now - last);
        last = now;
      }
      await release();
      same((await commit).kind, 'committed', 'the commit, once the lock is free');
      // The middle one: a machine that is busy with something else delays a few of them.
      const gap = present(gaps.sort((left, right) => left - right)[TICKS >> 1], 'a gap');
      ensure(gap < LONGEST_STOP, `a timer of ${TICK} ms fires in time meanwhile, in ms`, gap);
    },
    { needs: 'held-lock' },
  ),
];
