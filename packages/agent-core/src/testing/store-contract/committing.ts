import type { Commit } from '../../durable/commit.ts';
import { FORMAT } from '../../durable/durable-store.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, rejects, same } from './assert.ts';
import {
  callIdFor,
  callOf,
  childOf,
  eventRow,
  evidenceRow,
  inStatus,
  message,
  question,
} from './samples.ts';
import { storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';
import { everything, later, sortedByRun } from './whole-commit.ts';

/** `commit`: what it writes, all of it or nothing. */
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
    const rest = { principal, format: FORMAT, input: { plain: {} }, deliveries: 0 };
    const lastEvidence = evidence[1];
    same(
      { ...tree, runs: sortedByRun(tree.runs), messages: sortedByRun(tree.messages) },
      {
        runs: sortedByRun(runs),
        calls,
        messages: sortedByRun(messages),
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
    same(sortedByRun(tree.runs), sortedByRun([run, done]), 'the runs');
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
        { ...free, key: 'taken', expect: present(kept, 'the value').version },
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
];
