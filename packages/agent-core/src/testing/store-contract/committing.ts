import { runIdOf } from '../../base/ids.ts';
import type { Commit } from '../../durable/commit.ts';
import { FORMAT } from '../../durable/durable-store.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, rejects, same } from './assert.ts';
import {
  callIdFor,
  callOf,
  childOf,
  ending,
  eventRow,
  evidenceRow,
  inStatus,
  message,
  pausing,
  question,
  textRow,
} from './samples.ts';
import { AFTER_SHORT, SHORT, storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** `commit`: all or nothing, once, and only by the owner. */
export const committing: readonly Rule<StoreSubject>[] = [
  storeRule('everything of a commit becomes true together', async (bench) => {
    const { store, stop, principal } = bench;
    const { run, lease } = await bench.started();
    const value = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'k' };
    const written = everything(run);
    await bench.append(run.runId, 'external-event');
    const values = [{ ...value, value: { plain: { a: 1 } } }];
    const next = await bench.committed(lease, { ...written, values, consume: [1], progress: true });
    ensure(next.version !== lease.version, 'the version moves on', next.version);
    const { runs, calls, messages, evidence, events, lastSeq, openSteps, opens } = written;
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    const { ttlMs: _, ...wait } = opens[0];
    const rest = { principal, format: FORMAT, input: { plain: {} } };
    const lastEvidence = evidence[1];
    same(
      { ...tree, runs: sorted(tree.runs), messages: sorted(tree.messages) },
      {
        runs: sorted(runs),
        calls,
        messages: sorted(messages),
        waits: [wait],
        lastEvidence,
        lastSeq,
        openSteps,
        ...rest,
      },
      'the tree',
    );
    same(await store.log.read(run.runId, { after: 0, limit: 10, ...stop }), events, 'the log');
    const rows = await store.records.evidence(run.runId, { after: 0, limit: 10, ...stop });
    same(rows, evidence, 'the evidence');
    same((await store.values.get(value, stop))?.value, { plain: { a: 1 } }, 'the value');
    same(await store.inbox.pending(run.runId, stop), [], 'the unread signals');
    same((await store.records.head(run.runId, stop))?.run, runs[0], 'the head');
  }),
  storeRule('a commit may say nothing, or nothing but empty lists', async (bench) => {
    const { run, lease } = await bench.started();
    const next = await bench.committed(lease, {});
    const empty = {
      calls: [],
      messages: [],
      evidence: [],
      events: [],
      opens: [],
      moves: [],
      values: [],
      consume: [],
    };
    await unchanged(bench, run.runId, () => bench.committed(next, empty));
  }),
  storeRule('runs and calls are replaced by their id', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const child = childOf(run);
    const first = await bench.committed(lease, {
      runs: [run, child],
      calls: [callOf(run, 0), callOf(run, 1)],
    });
    const done = inStatus(child, 'completed', child.statusAt + 1);
    const input = { plain: { cents: 5 } };
    const started = callOf(run, 1, {
      stage: 'started',
      attempt: 1,
      startedFence: 1,
      carry: { plain: null },
      input,
    });
    await bench.committed(first, { runs: [done], calls: [started] });
    const tree = present(await store.records.load(run.runId, stop), 'the tree');
    same(sorted(tree.runs), sorted([run, done]), 'the runs');
    same(
      tree.calls.find(({ callId }) => callId === callIdFor(run, 0)),
      callOf(run, 0),
      'the first call',
    );
    same(
      tree.calls.find(({ callId }) => callId === callIdFor(run, 1)),
      started,
      'the second call',
    );
  }),
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
    same(sorted(tree.messages), sorted(commit.messages), 'the messages');
  }),

  ...(
    [
      ['an event number', (run) => ({ events: [eventRow(run, 3)] })],
      ['an evidence number', (run) => ({ evidence: [evidenceRow(run.runId, 1)] })],
      ['a message number', (run) => ({ messages: [message(run.runId, 1, 'again')] })],
      ['a wait', (run) => ({ opens: [question(run, 1)] })],
    ] as readonly (readonly [string, (run: RunState) => Partial<Commit>])[]
  ).map(([what, twice]) =>
    storeRule(`${what} that is written twice undoes the whole commit`, async (bench) => {
      const { run, lease } = await bench.started();
      const next = await bench.committed(lease, everything(run));
      const value = { namespace: bench.name('namespace'), tenantId: bench.tenant, key: 'k' };
      const values = [{ ...value, value: { plain: 1 } }];
      const commit = { ...later(run), ...twice(run), values };
      await unchanged(bench, run.runId, () => rejects(bench.commit(next, commit), what));
      same(await bench.store.values.get(value, bench.stop), undefined, 'the value');
      await bench.committed(next, later(run));
    }),
  ),
  storeRule(
    'a signal that is consumed twice, or is not there, undoes the whole commit',
    async (bench) => {
      const { run, lease } = await bench.started();
      await bench.append(run.runId, 'user-message');
      await bench.append(run.runId, 'user-message');
      const next = await bench.committed(lease, { consume: [1], progress: true });
      for (const consume of [[1], [2, 1], [3]]) {
        const commit = { ...later(run), consume };
        await unchanged(bench, run.runId, () =>
          rejects(bench.commit(next, commit), `consume ${consume}`),
        );
      }
      await bench.committed(next, { ...later(run), consume: [2], progress: true });
    },
  ),

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

  storeRule('a value of another version writes nothing and is named', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const value = { namespace: bench.name('namespace'), tenantId: bench.tenant };
    await store.values.put({ ...value, key: 'taken', value: { plain: 'theirs' } }, stop);
    const free = { ...value, key: 'free', value: { plain: 'mine' } };
    const commit = { ...later(run), values: [free, { ...free, key: 'taken', expect: 0 }] };
    const answer = await unchanged(bench, run.runId, () => bench.commit(lease, commit));
    same(answer, { kind: 'value-conflict', key: 'taken' }, 'the answer');
    same(await store.values.get(free, stop), undefined, 'the other value');
    const kept = await store.values.get({ ...value, key: 'taken' }, stop);
    same(kept?.value, { plain: 'theirs' }, 'the value that stood there');
    await bench.committed(lease, {
      ...later(run),
      values: [
        { ...free, expect: 0 },
        { ...free, key: 'taken', expect: kept?.version ?? 0 },
      ],
    });
    same(
      (await store.values.get({ ...value, key: 'taken' }, stop))?.value,
      { plain: 'mine' },
      'the value after that',
    );
  }),
  storeRule('values are written, expire and are deleted by a commit', async (bench) => {
    const { store, stop } = bench;
    const { run, lease } = await bench.started();
    const value = { namespace: bench.name('namespace'), tenantId: bench.tenant };
    const keep = { ...value, key: 'keep', value: { sealed: 'opaque' } };
    const next = await bench.committed(lease, {
      values: [keep, { ...keep, key: 'drop' }, { ...keep, key: 'timed', ttlMs: 600_000 }],
    });
    same((await store.values.get(keep, stop))?.value, { sealed: 'opaque' }, 'the value');
    const timed = await store.values.get({ ...keep, key: 'timed' }, stop);
    ensure(typeof timed?.expiresAt === 'number', 'the instant of expiry is told', timed);
    await bench.committed(next, { ...later(run), values: [{ ...value, key: 'drop' }] });
    same(await store.values.get({ ...keep, key: 'drop' }, stop), undefined, 'the deleted value');
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
  storeRule('a commit of 90 rows is one commit', async (bench) => {
    const { run, lease } = await bench.started();
    const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
    const events = numbers.map((n) => eventRow(run, n));
    await bench.committed(lease, {
      progress: true,
      events,
      lastSeq: eventRow(run, 30).lastSeq,
      messages: numbers.map((n) => message(run.runId, n, `message ${n}`)),
      evidence: numbers.map((n) => evidenceRow(run.runId, n)),
    });
    const read = await bench.store.log.read(run.runId, { after: 0, limit: 100, ...bench.stop });
    same(read, events, 'the log');
    const tree = present(await bench.store.records.load(run.runId, bench.stop), 'the tree');
    same(
      tree.messages.map(({ seq }) => seq),
      numbers,
      'the messages',
    );
    same(tree.lastEvidence?.seq, 30, 'the last evidence row');
  }),
];

/** One row of every kind. */
function everything(run: RunState) {
  return {
    runs: [inStatus(run, 'active'), childOf(run)],
    calls: [callOf(run, 0, { stage: 'started', attempt: 1, startedFence: 1 })],
    messages: [
      message(run.runId, 1, 'one'),
      message(run.runId, 2, 'two'),
      message(childOf(run).runId, 1, 'child'),
    ],
    evidence: [evidenceRow(run.runId, 1), evidenceRow(run.runId, 2)],
    events: [textRow(run, 1, ['Hel', 'lo']), eventRow(run, 3)],
    opens: [question(run, 1)] as const,
    lastSeq: eventRow(run, 3).lastSeq,
    openSteps: [`${run.runId}.s1`],
  } satisfies Partial<Commit>;
}

/** Rows that come after those of `everything`. */
function later(run: RunState) {
  return {
    runs: [inStatus(run, 'active', run.statusAt + 5)],
    calls: [callOf(run, 7)],
    messages: [message(run.runId, 7, 'seven')],
    evidence: [evidenceRow(run.runId, 7)],
    events: [eventRow(run, 7)],
    opens: [question(run, 7)],
    lastSeq: eventRow(run, 7).lastSeq,
  } satisfies Partial<Commit>;
}

function commitOf(run: RunState): Partial<Commit> {
  return { runs: [inStatus(run, 'active')] };
}

/** By run; the order within a run is kept. */
function sorted<T extends { readonly runId: string }>(rows: readonly T[]): readonly T[] {
  return [...rows].sort((left, right) => {
    if (left.runId === right.runId) return 0;
    return left.runId < right.runId ? -1 : 1;
  });
}
