import { type WaitId, waitIdOf } from '../../base/ids.ts';
import type { Lease, WaitOpening } from '../../durable/commit.ts';
import type { ResolveResult } from '../../durable/run-inbox.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { WaitRecord } from '../../vocabulary/wait.ts';
import type { Rule } from '../rule.ts';
import { race } from './appending.ts';
import { ensure, present, rejects, same } from './assert.ts';
import { callOf, ending, inStatus, pausing, question, waitIdFor } from './samples.ts';
import { AFTER_SHORT, SHORT, type StoreBench, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const ROUNDS = 8;

/** Waits: questions that are asked once, and answered once. */
export const resolving: readonly Rule<StoreSubject>[] = [
  storeRule('an answer is kept with who gave it, and wakes the run', async (bench) => {
    const { run } = await asked(bench);
    const resolution = {
      plain: { decision: 'modify', input: { cents: 5 }, comment: 'less' },
    } as const;
    const answer = await answerTo(bench, run, 1, { decision: 'modify', resolution, by: 'auditor' });
    same(answer, { kind: 'resolved', rootRunId: run.runId }, 'the answer');
    const wait = await waitOf(bench, run, 1);
    const { ttlMs: _, ...opened } = question(run, 1);
    const wanted = {
      ...opened,
      status: 'resolved',
      decision: 'modify',
      resolvedBy: 'auditor',
      resolution,
    };
    same(wait, wanted, 'the wait');
    const pending = await bench.store.inbox.pending(run.runId, bench.stop);
    const seen = pending.map(({ seq, kind, payload }) => ({ seq, kind, payload }));
    const signal = { seq: 1, kind: 'approval-decision', payload: { waitId: waitIdFor(run, 1) } };
    same(seen, [signal], 'the signals');
  }),
  storeRule(
    'a question about a run as a whole is listed, answered and used like one of a call',
    async (bench) => {
      const { store, stop } = bench;
      const { run, lease } = await bench.started();
      const id = waitIdOf(`${run.runId}.w1`);
      const { callId: _none, ...rest } = question(run, 1);
      const wait = { ...rest, id, kind: 'recovery', allowed: ['approve', 'abandon'] } as const;
      const next = await bench.committed(lease, { opens: [wait] });
      const query = { scope: bench.principal.scope, runId: run.runId, limit: 10, ...stop };
      same((await store.records.waits(query)).items, [wait], 'the list');
      const answer = { digest: wait.digest, decision: 'abandon', by: 'someone' } as const;
      const resolution = { plain: { decision: 'abandon' } } as const;
      const resolved = await store.inbox.resolve(id, { ...answer, resolution }, stop);
      same(resolved, { kind: 'resolved', rootRunId: run.runId }, 'the answer');
      const moves = [{ id, from: ['resolved'], to: 'used' }] as const;
      await bench.committed(next, { moves, consume: [1], progress: true });
      const tree = await store.records.load(run.runId, stop);
      same(tree?.waits[0]?.status, 'used', 'the wait');
    },
  ),
  storeRule('an answer never touches the run row: the owner goes on', async (bench) => {
    const { run, lease } = await asked(bench);
    const before = await bench.store.records.head(run.runId, bench.stop);
    await answerTo(bench, run, 1);
    same(await bench.store.records.head(run.runId, bench.stop), before, 'the head');
    await bench.committed(lease, { runs: [inStatus(run, 'active')] });
  }),
  storeRule(
    'the first answer wins, and the later ones are told it without its content',
    async (bench) => {
      const { run } = await asked(bench);
      await answerTo(bench, run, 1, { by: 'first' });
      const decision = 'reject' as const;
      const resolution = { plain: { decision } };
      const second = () => answerTo(bench, run, 1, { decision, resolution, by: 'second' });
      const answer = await unchanged(bench, run.runId, second);
      const { ttlMs: _, ...opened } = question(run, 1);
      const wait = { ...opened, status: 'resolved', decision: 'approve', resolvedBy: 'first' };
      same(answer, { kind: 'already', wait }, 'the second answer');
    },
  ),
  storeRule('of twenty answers at once exactly one is taken', async (bench) => {
    const { run } = await asked(bench);
    const people = Array.from({ length: 20 }, (_, n) => `person ${n}`);
    const answers = await Promise.all(people.map((by) => answerTo(bench, run, 1, { by })));
    const winners = people.filter((_, index) => answers[index]?.kind === 'resolved');
    same(winners.length, 1, 'how many were taken');
    same((await waitOf(bench, run, 1)).resolvedBy, winners[0], 'whose answer is kept');
    for (const answer of answers) {
      if (answer.kind === 'resolved') continue;
      ensure(answer.kind === 'already', 'the others come too late', answer);
      same(answer.wait.resolvedBy, winners[0], 'what the others are told');
    }
    same((await bench.store.inbox.pending(run.runId, bench.stop)).length, 1, 'how many signals');
  }),
  storeRule(
    'an answer to other arguments, or one that is not allowed, changes nothing',
    async (bench) => {
      const { run } = await asked(bench);
      const other = () => answerTo(bench, run, 1, { digest: 'digest of other arguments' });
      same(await unchanged(bench, run.runId, other), { kind: 'digest-mismatch' }, 'another digest');
      const decision = 'happened' as const;
      const resolution = { plain: { decision, result: null } };
      const foreign = () => answerTo(bench, run, 1, { decision, resolution });
      same(await unchanged(bench, run.runId, foreign), { kind: 'not-allowed' }, 'another decision');
      same((await answerTo(bench, run, 1)).kind, 'resolved', 'the right answer after that');
    },
  ),
  storeRule('an answer to a wait that is not there is unknown', async (bench) => {
    const { run } = await asked(bench);
    const { store, stop } = bench;
    const decision = 'approve' as const;
    const answer = {
      digest: 'digest 1',
      decision,
      resolution: { plain: { decision } },
      by: 'someone',
    };
    for (const id of [waitIdFor(run, 2), waitIdFor(bench.run(), 1), waitIdOf('')]) {
      same(await store.inbox.resolve(id, answer, stop), { kind: 'unknown' }, `an answer to ${id}`);
    }
  }),
  storeRule(
    'an answer that comes too late is expired, and changes nothing',
    async (bench) => {
      const { run } = await asked(bench, { ttlMs: SHORT });
      await bench.advance(AFTER_SHORT);
      const late = () => answerTo(bench, run, 1);
      same(await unchanged(bench, run.runId, late), { kind: 'expired' }, 'the late answer');
      same((await waitOf(bench, run, 1)).status, 'pending', 'the status of the wait');
    },
    { needs: 'clock' },
  ),
  storeRule('a wait expires so long after it was stored, or never', async (bench) => {
    const { run, lease } = await bench.started();
    const opens = [1_000, 301_000].map((ttlMs, index) => question(run, index + 1, { ttlMs }));
    await bench.committed(lease, { opens: [...opens, question(run, 3)] });
    const expiry = async (n: number): Promise<number> =>
      present((await waitOf(bench, run, n)).expiresAt, `the expiry of wait ${n}`);
    const apart = (await expiry(2)) - (await expiry(1));
    // The store may look at its clock once a wait.
    ensure(Math.abs(apart - 300_000) < 1_000, 'five minutes between the two, in ms', apart);
    same(await waitOf(bench, run, 3), question(run, 3), 'a wait without a time');
  }),

  storeRule('a wait id names one question for ever', async (bench) => {
    const { run, lease } = await asked(bench);
    await answerTo(bench, run, 1);
    const id = waitIdFor(run, 1);
    const used = await bench.committed(lease, { moves: [{ id, from: ['resolved'], to: 'used' }] });
    const again = () => rejects(bench.commit(used, { opens: [question(run, 1)] }), 'the same id');
    await unchanged(bench, run.runId, again);
    await bench.committed(used, { opens: [question(run, 2)] });
    same((await waitOf(bench, run, 2)).status, 'pending', 'the second question');
    same((await waitOf(bench, run, 1)).status, 'used', 'the first question');
  }),
  storeRule('a wait moves as a compare-and-swap, with the mark of its call', async (bench) => {
    const { run, lease } = await asked(bench);
    const move = { id: waitIdFor(run, 1), from: ['resolved'], to: 'used' } as const;
    const started = callOf(run, 0, { stage: 'started', attempt: 1, startedFence: 1 });
    const dispatch = { moves: [move], calls: [started] };
    const early = await unchanged(bench, run.runId, () => bench.commit(lease, dispatch));
    same(early, { kind: 'inbox-moved' }, 'before the answer');
    await answerTo(bench, run, 1);
    const next = await bench.committed(lease, { ...dispatch, consume: [1], progress: true });
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    same([tree.waits[0]?.status, tree.calls], ['used', [started]], 'the wait and the call');
    same(tree.waits[0]?.decision, 'approve', 'the decision stays');
    const twice = await unchanged(bench, run.runId, () => bench.commit(next, { moves: [move] }));
    same(twice, { kind: 'inbox-moved' }, 'a second time');
  }),
  storeRule('one move that does not match undoes the others', async (bench) => {
    const { run, lease } = await asked(bench);
    const next = await bench.committed(lease, { opens: [question(run, 2)] });
    await answerTo(bench, run, 2);
    const moves = [1, 2].map(
      (n) => ({ id: waitIdFor(run, n), from: ['pending'], to: 'expired' }) as const,
    );
    const answer = await unchanged(bench, run.runId, () => bench.commit(next, { moves }));
    same(answer, { kind: 'inbox-moved' }, 'the answer');
    await bench.committed(next, {
      moves: [{ ...moves[0], id: waitIdFor(run, 2), from: ['pending', 'resolved'], to: 'void' }],
    });
    same((await waitOf(bench, run, 2)).status, 'void', 'the wait after a move from either');
  }),
  storeRule('an answer against an expiry: one of them wins', async (bench) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { run, lease } = await asked(bench);
      const moves = [{ id: waitIdFor(run, 1), from: ['pending'], to: 'expired' }] as const;
      const [answer, expiry] = await race(
        round,
        () => answerTo(bench, run, 1),
        () => bench.commit(lease, { moves }),
      );
      const { status } = await waitOf(bench, run, 1);
      const seen = `${answer.kind}, ${expiry.kind}, ${status}`;
      const allowed = ['resolved, inbox-moved, resolved', 'already, committed, expired'];
      ensure(allowed.includes(seen), 'a wait has two ends', seen);
    }
  }),
  storeRule(
    'an answer against a release: the owner sees it, or it finds no lease',
    async (bench) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { run, lease } = await asked(bench);
        const [answer, release] = await race(
          round,
          () => answerTo(bench, run, 1),
          () => bench.commit(lease, pausing(run)),
        );
        same(answer.kind, 'resolved', 'the answer');
        const claimed = await bench.claim(run.runId);
        const seen = `${release.kind}, ${claimed === undefined ? 'not claimable' : 'claimable'}`;
        ensure(
          ['inbox-moved, not claimable', 'committed, claimable'].includes(seen),
          'an answer is stranded',
          seen,
        );
      }
    },
  ),
  storeRule('an answer against an end: it is seen, or the wait is void', async (bench) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { run, lease } = await asked(bench);
      const end = () =>
        bench.commit(
          lease,
          ending(run, { status: round < ROUNDS / 2 ? 'completed' : 'cancelled' }),
        );
      const [answer, ended] = await race(round, () => answerTo(bench, run, 1), end);
      const { status } = await waitOf(bench, run, 1);
      const seen = `${answer.kind}, ${ended.kind}, ${status}`;
      const allowed = [
        'resolved, inbox-moved, resolved',
        'already, committed, void',
        'resolved, committed, void',
      ];
      ensure(allowed.includes(seen), 'an answer is taken by a run that has ended', seen);
      if (round < ROUNDS / 2)
        ensure(seen !== allowed[2], 'a completed run did not see the answer', seen);
    }
  }),
  storeRule('an end voids what is pending, or resolved and not used', async (bench) => {
    const { run, lease } = await asked(bench);
    const opens = [2, 3, 4].map((n) => question(run, n));
    const next = await bench.committed(lease, { opens });
    await answerTo(bench, run, 2);
    await answerTo(bench, run, 3);
    const moves = [
      { id: waitIdFor(run, 3), from: ['resolved'], to: 'used' },
      { id: waitIdFor(run, 4), from: ['pending'], to: 'expired' },
    ] as const;
    const last = await bench.committed(next, { moves, consume: [1, 2], progress: true });
    await bench.committed(last, ending(run, { lastSeenSeq: 2 }));
    const statuses: string[] = [];
    for (const n of [1, 2, 3, 4]) statuses.push((await waitOf(bench, run, n)).status);
    same(statuses, ['void', 'void', 'used', 'expired'], 'the waits after the end');
    const late = await unchanged(bench, run.runId, () => answerTo(bench, run, 1));
    ensure(late.kind === 'already', 'an answer after the end is told what there is', late);
    same(late.wait.status, 'void', 'an answer after the end');
  }),
  storeRule('a wait of one run is no wait of another', async (bench) => {
    const one = await asked(bench);
    const other = await asked(bench);
    await answerTo(bench, one.run, 1);
    await bench.committed(one.lease, { ...ending(one.run, { lastSeenSeq: 1 }), consume: [1] });
    same((await waitOf(bench, other.run, 1)).status, 'pending', 'the wait of the other run');
  }),
];

type Answer = Parameters<StoreBench['store']['inbox']['resolve']>[1];

/** An owned run with one open question. */
async function asked(
  bench: StoreBench,
  part: Partial<WaitOpening> = {},
): Promise<{ readonly run: RunState; readonly lease: Lease }> {
  const { run, lease } = await bench.started();
  return { run, lease: await bench.committed(lease, { opens: [question(run, 1, part)] }) };
}

function answerTo(
  { store, stop }: StoreBench,
  run: RunState,
  n: number,
  part: Partial<Answer> = {},
): Promise<ResolveResult> {
  const decision = 'approve' as const;
  const whole = {
    digest: question(run, n).digest,
    decision,
    resolution: { plain: { decision } },
    by: 'someone',
  };
  return store.inbox.resolve(waitIdFor(run, n), { ...whole, ...part }, stop);
}

async function waitOf({ store, stop }: StoreBench, run: RunState, n: number): Promise<WaitRecord> {
  const id: WaitId = waitIdFor(run, n);
  const tree = await store.records.load(run.runId, stop);
  return present(
    tree?.waits.find((wait) => wait.id === id),
    `the wait ${id}`,
  );
}
