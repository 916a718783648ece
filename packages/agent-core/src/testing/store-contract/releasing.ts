import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import { ending, inStatus, pausing } from './samples.ts';
import { AFTER_SHORT, SHORT, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';
import { later } from './whole-commit.ts';

/** `commit`: how an owner gives a run back, or ends it, and what its deliveries count. */
export const releasing: readonly Rule<StoreSubject>[] = [
  storeRule('a release that has not seen the newest signal writes nothing', async (bench) => {
    const { run, lease } = await bench.started();
    for (const [index, kind] of (['user-message', 'cancel'] as const).entries()) {
      await bench.append(run.runId, kind);
      const commit = { ...later(run), ...pausing(run, index), commitId: bench.name('commit') };
      for (const what of ['the release', 'the same release again']) {
        const answer = await unchanged(bench, run.runId, () => bench.commit(lease, commit));
        same(answer, { kind: 'inbox-moved' }, what);
      }
    }
    await bench.committed(lease, pausing(run, 2));
  }),
  storeRule('an end that has not seen the newest signal writes nothing', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.append(run.runId, 'user-message');
    const early = { ...later(run), ...ending(run, { lastSeenSeq: 0 }) };
    const answer = await unchanged(bench, run.runId, () => bench.commit(lease, early));
    same(answer, { kind: 'inbox-moved' }, 'the early end');
    same(await bench.append(run.runId, 'follow-up'), 'appended', 'the inbox stays open');
    await bench.committed(lease, { ...ending(run, { lastSeenSeq: 2 }), consume: [1, 2] });
    same(await bench.append(run.runId, 'follow-up'), 'terminal', 'the inbox after the end');
  }),
  storeRule('messages cannot hold up a failure or a cancel, and stay unread', async (bench) => {
    for (const status of ['failed', 'cancelled'] as const) {
      const { run, lease } = await bench.started();
      await bench.append(run.runId, 'user-message', 'unread');
      await bench.committed(lease, ending(run, { status }));
      same(await bench.append(run.runId, 'follow-up'), 'terminal', `the inbox of a ${status} run`);
      const unread = await bench.store.inbox.pending(run.runId, bench.stop);
      same(
        unread.map(({ dedupeKey }) => dedupeKey),
        ['unread'],
        'the unread messages',
      );
    }
  }),
  storeRule('a commit that neither releases nor ends does not look at the inbox', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.append(run.runId, 'cancel');
    await bench.committed(lease, later(run));
  }),
  storeRule('a release ends the lease', async (bench) => {
    const { run, lease } = await bench.started();
    const next = await bench.committed(lease, pausing(run));
    const answer = await unchanged(bench, run.runId, () => bench.commit(next, later(run)));
    same(answer, { kind: 'superseded' }, 'a commit after the release');
  }),

  storeRule(
    'progress and the poison question reset the deliveries',
    async (bench) => {
      for (const reset of [{ progress: true }, { poison: true }] as const) {
        const { run, lease } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
        await bench.advance(AFTER_SHORT);
        const second = present(await bench.claim(run.runId, { ttlMs: SHORT }), 'the second lease');
        same(second.deliveries, lease.deliveries + 1, 'the deliveries of the second lease');
        await bench.committed(second, { ...later(run), ...reset });
        await bench.advance(AFTER_SHORT);
        const third = present(await bench.claim(run.runId), 'the third lease');
        same(third.deliveries, 1, `the deliveries after ${Object.keys(reset)}`);
      }
    },
    { needs: 'clock' },
  ),
  storeRule(
    'a flush is no progress, and no delivery is taken back',
    async (bench) => {
      const { run, lease } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
      await bench.committed(lease, later(run));
      await bench.advance(AFTER_SHORT);
      const second = present(await bench.claim(run.runId), 'the second lease');
      same(second.deliveries, 2, 'the deliveries');
    },
    { needs: 'clock' },
  ),
  storeRule('a release without progress takes its own delivery back', async (bench) => {
    const { run, lease } = await bench.started();
    const active = { runs: [inStatus(run, 'active')], release: { lastSeenSeq: 0 } };
    await bench.committed(lease, active);
    for (const fence of [2, 3, 4]) {
      const next = present(await bench.claim(run.runId), 'the next lease');
      same([next.fence, next.deliveries], [fence, 1], 'fence and deliveries');
      await bench.committed(next, active);
    }
  }),
  storeRule('the deliveries are never below zero', async (bench) => {
    const { run, lease } = await bench.started();
    const known = await bench.committed(lease, { ...later(run), progress: true });
    await bench.committed(known, { runs: [inStatus(run, 'active')], release: { lastSeenSeq: 0 } });
    const next = present(await bench.claim(run.runId), 'the next lease');
    same(next.deliveries, 1, 'the deliveries');
  }),
  storeRule('an end ends the lease', async (bench) => {
    const { run, lease } = await bench.started();
    const next = await bench.committed(lease, ending(run));
    const answer = await unchanged(bench, run.runId, () => bench.commit(next, later(run)));
    same(answer, { kind: 'superseded' }, 'a commit after the end');
    const beat = await bench.store.ownership.heartbeat([next], bench.stop);
    same(beat.lost, [run.runId], 'a heartbeat after the end');
  }),
];
