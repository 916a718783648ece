import { runIdOf } from '../../base/ids.ts';
import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import { ending, inStatus, pausing } from './samples.ts';
import { AFTER_SHORT, LONG, SHORT, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `heartbeat`: keeps leases, and tells what happened to them. */
export const heartbeats: readonly Rule<StoreSubject>[] = [
  storeRule(
    'a heartbeat extends the lease and leaves the version alone',
    async (bench) => {
      const { store, stop } = bench;
      const { run, lease } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
      const beat = await store.ownership.heartbeat([{ ...lease, ttlMs: LONG }], stop);
      same(beat, { lost: [], signalled: [] }, 'the answer');
      await bench.advance(AFTER_SHORT);
      same(await bench.claim(run.runId), undefined, 'a claim after the first term');
      await bench.committed(lease, { runs: [inStatus(run, 'active')] });
    },
    { needs: 'clock' },
  ),
  storeRule(
    'a heartbeat tells the leases that are lost, and extends none of them',
    async (bench) => {
      const { store, stop } = bench;
      const alive = await bench.started();
      const released = await bench.started();
      await bench.committed(released.lease, {
        ...pausing(released.run),
        runs: [inStatus(released.run, 'active')],
      });
      const superseded = await bench.started();
      const active = inStatus(superseded.run, 'active');
      await bench.committed(superseded.lease, { runs: [active], release: { lastSeenSeq: 0 } });
      present(
        await bench.claim(superseded.run.runId, { owner: superseded.lease.owner }),
        'a newer lease',
      );
      const ended = await bench.started();
      await bench.committed(ended.lease, ending(ended.run));
      const other = await bench.started();
      const unknown = runIdOf(`r${bench.name('unknown')}`);
      const leases = [
        released.lease,
        alive.lease,
        superseded.lease,
        ended.lease,
        { ...other.lease, owner: 'somebody else' },
        { ...alive.lease, rootRunId: unknown },
      ];
      for (const { run } of [released, alive, superseded, ended, other]) {
        await bench.append(run.runId, 'user-message');
      }
      const beat = await store.ownership.heartbeat(leases, stop);
      const lost = [released, superseded, ended, other].map(({ run }) => run.runId);
      same([...beat.lost].sort(), [...lost, unknown].sort(), 'the lost leases');
      same(beat.signalled, [alive.run.runId], 'the signalled runs: of live leases only');
      present(await bench.claim(released.run.runId), 'a claim of the run that was given back');
    },
  ),
  storeRule('a heartbeat tells the runs that have unread signals', async (bench) => {
    const { store, stop } = bench;
    const quiet = await bench.started();
    const loud = await bench.started();
    await bench.append(loud.run.runId, 'user-message');
    await bench.append(loud.run.runId, 'cancel');
    const leases = [quiet.lease, loud.lease];
    const beat = await store.ownership.heartbeat(leases, stop);
    same(beat, { lost: [], signalled: [loud.run.runId] }, 'with unread signals');
    const lease = await bench.committed(loud.lease, { progress: true, consume: [1, 2] });
    const later = await store.ownership.heartbeat([quiet.lease, lease], stop);
    same(later, { lost: [], signalled: [] }, 'after they were read');
  }),
  storeRule('a heartbeat of no lease answers that nothing is lost', async ({ store, stop }) => {
    const beat = await store.ownership.heartbeat([], stop);
    same(beat, { lost: [], signalled: [] }, 'the answer');
  }),
];
