import { runIdOf } from '../../base/ids.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, same } from './assert.ts';
import { ending, eventRow, inStatus, pausing, question, waitIdFor } from './samples.ts';
import { AFTER_SHORT, SHORT, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const clock = { needs: 'clock' } as const;

/** `claim`: who may write a run, by the store's clock. */
export const claiming: readonly Rule<StoreSubject>[] = [
  storeRule(
    'every claim raises the fence, and hands over what the last owner left',
    async (bench) => {
      const { run, lease } = await bench.started();
      const events = [eventRow(run, 1)];
      const lastSeq = eventRow(run, 1).lastSeq;
      const left = { lastSeq, openSteps: [`${run.runId}.s1`], events };
      const { version } = await bench.committed(lease, {
        ...left,
        ...pausing(run),
        runs: [inStatus(run, 'active')],
      });
      const next = await bench.claim(run.runId, { owner: 'second' });
      const { claimedAt: _at, ...second } = present(next, 'the lease of the second owner');
      const { rootRunId, ttlMs } = second;
      const { openSteps } = left;
      const wanted = {
        rootRunId,
        owner: 'second',
        ttlMs,
        fence: 2,
        version,
        deliveries: 1,
        lastSeq,
        openSteps,
        released: true,
      };
      same(second, wanted, 'the lease of the second owner');
    },
  ),
  storeRule('a run with a live lease is not claimable, not even by its owner', async (bench) => {
    const { run, lease } = await bench.started();
    const { owner } = lease;
    for (const target of [run.runId, 'next'] as const) {
      const answer = await unchanged(bench, run.runId, () => bench.claim(target, { owner }));
      same(answer, undefined, `a claim of ${target}`);
    }
    await bench.committed(lease, {});
  }),
  storeRule(
    'a lease that ran out is claimable, and was not released',
    async (bench) => {
      const { run } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
      await bench.advance(AFTER_SHORT);
      const second = present(await bench.claim(run.runId, { ttlMs: SHORT }), 'the second lease');
      same([second.fence, second.deliveries, second.released], [2, 2, false], 'the second lease');
      await bench.advance(AFTER_SHORT);
      const third = present(await bench.claim('next'), 'the third lease');
      same([third.fence, third.deliveries, third.released], [3, 3, false], 'the third lease');
      const tree = await bench.store.records.load(third.rootRunId, bench.stop);
      same(tree?.deliveries, 3, 'the deliveries, as load tells them');
    },
    clock,
  ),
  storeRule(
    'a lease says when it was claimed, by the store’s clock, also when a creation claims',
    async (bench) => {
      const { run, lease } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
      await bench.advance(AFTER_SHORT);
      const next = present(await bench.claim(run.runId), 'the second lease');
      const first = present(lease.claimedAt, 'when the creation claimed');
      const second = present(next.claimedAt, 'when the second owner claimed');
      ensure(second - first >= SHORT, 'the second claim came after the lease was over', {
        first,
        second,
      });
    },
    clock,
  ),
  storeRule(
    'expiry alone refuses nothing',
    async (bench) => {
      const { run, lease } = await bench.started({}, { claim: { owner: 'first', ttlMs: SHORT } });
      await bench.advance(AFTER_SHORT);
      const next = await bench.committed(lease, { runs: [inStatus(run, 'active')] });
      const beat = await bench.store.ownership.heartbeat([{ ...next, ttlMs: 60_000 }], bench.stop);
      same(beat.lost, [], 'the lost leases');
      same(await bench.claim(run.runId), undefined, 'a claim after the late heartbeat');
    },
    clock,
  ),
  storeRule(
    'a run that is active or cancelling is claimable once it is released',
    async (bench) => {
      for (const status of ['active', 'cancelling'] as const) {
        const { run, lease } = await bench.started();
        await bench.committed(lease, {
          runs: [inStatus(run, status)],
          release: { lastSeenSeq: 0 },
        });
        present(await bench.claim('next'), `a claim of a run that is ${status}`);
      }
    },
  ),
  storeRule('a run that has ended is never claimable', async (bench) => {
    for (const status of ['completed', 'failed', 'cancelled'] as const) {
      const { run, lease } = await bench.started();
      await bench.append(run.runId, 'cancel');
      await bench.committed(lease, ending(run, { status, lastSeenSeq: 1 }));
      for (const target of [run.runId, 'next'] as const) {
        same(await bench.claim(target), undefined, `a claim of ${target} after ${status}`);
      }
    }
  }),
  storeRule('a paused run is not claimable, also not with an unread message', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.committed(lease, { ...pausing(run), opens: [question(run, 1)] });
    for (const kind of [undefined, 'user-message', 'steering-instruction', 'follow-up'] as const) {
      if (kind !== undefined) same(await bench.append(run.runId, kind), 'appended', 'append');
      for (const target of [run.runId, 'next'] as const) {
        same(
          await bench.claim(target),
          undefined,
          `a claim of ${target} with ${kind ?? 'nothing'}`,
        );
      }
    }
  }),
  storeRule(
    'a paused run is claimable with an unread control signal, until it is read',
    async (bench) => {
      const kinds = [
        'cancel',
        'pause',
        'resume',
        'approval-decision',
        'external-event',
        'scheduler-wake-up',
      ] as const;
      const { run, lease } = await bench.started();
      await bench.committed(lease, pausing(run));
      for (const [index, kind] of kinds.entries()) {
        await bench.append(run.runId, kind);
        const owner = present(await bench.claim('next'), `a claim with an unread ${kind}`);
        const seen = index + 1;
        await bench.committed(owner, { ...pausing(run, seen), consume: [seen] });
        same(await bench.claim(run.runId), undefined, `a claim after ${kind} was read`);
      }
    },
  ),
  storeRule('a paused run is claimable once its question is answered', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.committed(lease, { ...pausing(run), opens: [question(run, 1)] });
    const { digest } = question(run, 1);
    const resolution = { plain: { decision: 'approve' } } as const;
    const answer = { digest, decision: 'approve', resolution, by: 'someone' } as const;
    await bench.store.inbox.resolve(waitIdFor(run, 1), answer, bench.stop);
    present(await bench.claim(run.runId), 'a claim after the answer');
  }),
  storeRule(
    'a paused run is claimable when its timer is due, not before',
    async (bench) => {
      const { run, lease } = await bench.started();
      const release = (wakeInMs: number) => ({ release: { lastSeenSeq: 0, wakeInMs } });
      const soon = release(SHORT);
      await bench.committed(lease, { ...pausing(run), ...soon });
      await bench.advance(AFTER_SHORT);
      const woken = present(await bench.claim('next'), 'a claim when the timer is due');
      await bench.committed(woken, { ...pausing(run), ...release(600_000) });
      same(await bench.claim(run.runId), undefined, 'a claim before the next timer is due');
    },
    clock,
  ),
  storeRule(
    'a release without a timer takes the one of the last release away',
    async (bench) => {
      const { run, lease } = await bench.started();
      const release = { lastSeenSeq: 0, wakeInMs: SHORT };
      await bench.committed(lease, { ...pausing(run), release });
      await bench.advance(AFTER_SHORT);
      const woken = present(await bench.claim(run.runId), 'a claim when the timer is due');
      await bench.committed(woken, pausing(run));
      same(await bench.claim(run.runId), undefined, 'a claim after the second release');
    },
    clock,
  ),
  storeRule(
    'a timer is not used up by an owner that is lost',
    async (bench) => {
      const { run, lease } = await bench.started();
      const release = { lastSeenSeq: 0, wakeInMs: SHORT };
      await bench.committed(lease, { ...pausing(run), release });
      await bench.advance(AFTER_SHORT);
      const woken = present(await bench.claim(run.runId, { ttlMs: SHORT }), 'a claim that is lost');
      const events = [eventRow(run, 1, { fence: 2 })];
      await bench.committed(woken, { events, lastSeq: eventRow(run, 1, { fence: 2 }).lastSeq });
      await bench.advance(AFTER_SHORT);
      present(await bench.claim('next'), 'a claim after the owner of the first one was lost');
    },
    clock,
  ),
  storeRule(
    'a paused run is claimable when a pending wait is due',
    async (bench) => {
      const { run, lease } = await bench.started();
      const opens = [question(run, 1, { ttlMs: SHORT }), question(run, 2, { ttlMs: 600_000 })];
      await bench.committed(lease, { ...pausing(run), opens });
      await bench.advance(AFTER_SHORT);
      const woken = present(await bench.claim('next'), 'a claim when a wait is due');
      const moves = [{ id: waitIdFor(run, 1), from: ['pending'], to: 'expired' }] as const;
      await bench.committed(woken, { ...pausing(run), moves });
      same(await bench.claim(run.runId), undefined, 'a claim while no pending wait is due');
    },
    clock,
  ),
  storeRule('next takes only runs of the agents that are named', async (bench) => {
    await bench.create(bench.run());
    const { store, stop } = bench;
    const options = { owner: 'other', ttlMs: 60_000, ...stop };
    for (const agents of [[bench.name('agent')], []]) {
      const answer = await store.ownership.claim('next', { ...options, agents });
      same(answer, undefined, `next of ${agents.length} other agents`);
    }
    const agents = [bench.name('agent'), bench.agent];
    present(await store.ownership.claim('next', { ...options, agents }), 'next of this agent');
  }),
  storeRule('a claim by id does not ask for the agent', async (bench) => {
    const run = bench.run();
    await bench.create(run);
    const options = { owner: 'other', ttlMs: 60_000, agents: [], ...bench.stop };
    present(await bench.store.ownership.claim(run.runId, options), 'a claim by id');
  }),
  storeRule('a claim of an unknown run answers nothing', async (bench) => {
    same(await bench.claim(runIdOf(`r${bench.name('unknown')}`)), undefined, 'a claim');
  }),
  storeRule('of many claims of one run exactly one gets the lease', async (bench) => {
    const run = bench.run();
    await bench.create(run);
    const claims = Array.from({ length: 10 }, (_, n) =>
      bench.claim(run.runId, { owner: `owner ${n}` }),
    );
    const leases = (await Promise.all(claims)).filter((lease) => lease !== undefined);
    same(
      leases.map(({ fence, deliveries }) => [fence, deliveries]),
      [[1, 1]],
      'the leases',
    );
  }),
  storeRule('many claims of the next run get each run once', async (bench) => {
    const runs = [bench.run(), bench.run(), bench.run()];
    for (const run of runs) await bench.create(run);
    const claims = Array.from({ length: 9 }, (_, n) =>
      bench.claim('next', { owner: `owner ${n}` }),
    );
    const claimed = (await Promise.all(claims)).flatMap((lease) => lease?.rootRunId ?? []);
    ensure(new Set(claimed).size === claimed.length, 'a run is claimed by two', claimed);
    // Who lost a race may look again: what is left must still be there for the next claim.
    let left = await bench.claim('next');
    while (left !== undefined && claimed.length < claims.length) {
      claimed.push(left.rootRunId);
      left = await bench.claim('next');
    }
    same([...claimed].sort(), runs.map(({ runId }) => runId).sort(), 'the claimed runs');
  }),
];
