import type { Rule } from '../rule.ts';
import { ensure, present, same } from './assert.ts';
import { ending, inStatus } from './samples.ts';
import { storeRule, unchanged } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

const ROUNDS = 8;

/** `inbox.append` and `inbox.pending`: what outsiders say to a run. */
export const appending: readonly Rule<StoreSubject>[] = [
  storeRule('signals are numbered from 1 and kept in the order of arrival', async (bench) => {
    const { store, stop } = bench;
    const { run } = await bench.started();
    const sent = (['user-message', 'cancel', 'follow-up'] as const).map((kind, index) => ({
      kind,
      payload: { index, nested: { text: kind, list: [null, true] } },
      dedupeKey: `key ${index}`,
    }));
    for (const signal of sent) {
      same(await store.inbox.append(run.runId, signal, stop), 'appended', 'append');
    }
    const pending = await store.inbox.pending(run.runId, stop);
    same(
      pending.map(({ at: _, ...signal }) => signal),
      sent.map((signal, index) => ({ ...signal, seq: index + 1 })),
      'the signals',
    );
    ensure(
      pending.every(({ at }) => Number.isSafeInteger(at) && at > 0),
      'instants are whole milliseconds',
      pending,
    );
  }),
  storeRule(
    'a signal is appended to a run that is created, owned, paused or given back',
    async (bench) => {
      const run = bench.run();
      await bench.create(run);
      same(await bench.append(run.runId, 'user-message'), 'appended', 'to a created run');
      const lease = present(await bench.claim(run.runId), 'the lease');
      same(await bench.append(run.runId, 'user-message'), 'appended', 'to an owned run');
      await bench.committed(lease, {
        runs: [inStatus(run, 'interrupted')],
        release: { lastSeenSeq: 2 },
      });
      same(await bench.append(run.runId, 'user-message'), 'appended', 'to a paused run');
    },
  ),
  storeRule(
    'a dedupe key is taken once in a run, also after its signal was consumed',
    async (bench) => {
      const { run, lease } = await bench.started();
      same(await bench.append(run.runId, 'user-message', 'key'), 'appended', 'the first time');
      const twice = () => bench.append(run.runId, 'cancel', 'key');
      same(await unchanged(bench, run.runId, twice), 'duplicate', 'the second time');
      await bench.committed(lease, { progress: true, consume: [1] });
      same(await unchanged(bench, run.runId, twice), 'duplicate', 'after it was consumed');
      const { run: other } = await bench.started();
      same(await bench.append(other.runId, 'user-message', 'key'), 'appended', 'in another run');
    },
  ),
  storeRule('after the end a known key is a duplicate, and a new one terminal', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.append(run.runId, 'user-message', 'known');
    await bench.committed(lease, { ...ending(run, { lastSeenSeq: 1 }), consume: [1] });
    for (const [key, answer] of [
      ['known', 'duplicate'],
      ['new', 'terminal'],
    ] as const) {
      const append = () => bench.append(run.runId, 'user-message', key);
      same(await unchanged(bench, run.runId, append), answer, `a signal with a ${key} key`);
    }
  }),
  storeRule(
    'a consumed signal is pending no more, the others keep their numbers',
    async (bench) => {
      const { run, lease } = await bench.started();
      for (let n = 0; n < 3; n += 1) await bench.append(run.runId, 'user-message');
      await bench.committed(lease, { progress: true, consume: [2] });
      await bench.append(run.runId, 'user-message');
      const pending = await bench.store.inbox.pending(run.runId, bench.stop);
      same(
        pending.map(({ seq }) => seq),
        [1, 3, 4],
        'the numbers',
      );
    },
  ),
  storeRule('signals never touch the version: the owner goes on', async (bench) => {
    const { run, lease } = await bench.started();
    await bench.append(run.runId, 'cancel');
    await bench.committed(lease, { runs: [inStatus(run, 'active')] });
  }),
  storeRule('many signals at once are all kept, with numbers of their own', async (bench) => {
    const { run } = await bench.started();
    const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`);
    const answers = await Promise.all(
      keys.map((key) => bench.append(run.runId, 'user-message', key)),
    );
    same(
      answers,
      keys.map(() => 'appended'),
      'the answers',
    );
    const pending = await bench.store.inbox.pending(run.runId, bench.stop);
    same(
      pending.map(({ seq }) => seq),
      keys.map((_, index) => index + 1),
      'the numbers',
    );
    same(pending.map(({ dedupeKey }) => dedupeKey).sort(), [...keys].sort(), 'the keys');
  }),
  storeRule('of many signals with one key exactly one is appended', async (bench) => {
    const { run } = await bench.started();
    const sent = Array.from({ length: 10 }, () => bench.append(run.runId, 'user-message', 'key'));
    const appended = (await Promise.all(sent)).filter((answer) => answer === 'appended');
    same(appended.length, 1, 'how many were appended');
    same((await bench.store.inbox.pending(run.runId, bench.stop)).length, 1, 'how many are kept');
  }),
  storeRule('a message against an end: it is read, or it is turned away', async (bench) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { run, lease } = await bench.started();
      const [message, end] = await race(
        round,
        () => bench.append(run.runId, 'user-message'),
        () => bench.commit(lease, ending(run)),
      );
      const seen = `${message} and ${end.kind}`;
      const allowed = ['appended and inbox-moved', 'terminal and committed'];
      ensure(allowed.includes(seen), 'a message is accepted by a run that ends without it', seen);
    }
  }),
  storeRule(
    'a signal against a release: the owner sees it, or it finds no lease',
    async (bench) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { run, lease } = await bench.started();
        const pause = { runs: [inStatus(run, 'interrupted')], release: { lastSeenSeq: 0 } };
        const [message, release] = await race(
          round,
          () => bench.append(run.runId, 'cancel'),
          () => bench.commit(lease, pause),
        );
        same(message, 'appended', 'the signal');
        const claimed = await bench.claim(run.runId);
        const seen = `${release.kind}, ${claimed === undefined ? 'not claimable' : 'claimable'}`;
        const allowed = ['inbox-moved, not claimable', 'committed, claimable'];
        ensure(allowed.includes(seen), 'a signal is stranded', seen);
      }
    },
  ),
];

/** Starts both at once, and each of them first every other time. */
export async function race<A, B>(
  round: number,
  left: () => Promise<A>,
  right: () => Promise<B>,
): Promise<readonly [A, B]> {
  if (round % 2 === 0) return Promise.all([left(), right()]);
  const second = right();
  return Promise.all([left(), second]);
}
