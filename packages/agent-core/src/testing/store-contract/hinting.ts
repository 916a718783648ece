import { systemClock } from '../../base/clock.ts';
import type { Rule } from '../rule.ts';
import { present, same } from './assert.ts';
import { ending, inStatus, pausing, question, waitIdFor } from './samples.ts';
import { type StoreBench, storeRule } from './store-bench.ts';
import type { StoreSubject } from './store-subject.ts';

/** A word that takes longer than this is no use to a worker that polls, in milliseconds. */
const SOON = 5_000;

const needs = { needs: 'claimable-told' } as const;

/** `claimable`: workers are told. It is a hint, so nothing here says that it never comes for nothing. */
export const hinting: readonly Rule<StoreSubject>[] = [
  storeRule(
    'a worker that waits is told of what another connection has made claimable',
    async (bench) => {
      const other = await bench.another();
      const heard = listening(other);
      await heard('a run that was created and not claimed', () => bench.create(bench.run()));

      const { run, lease } = await bench.started();
      const active = { runs: [inStatus(run, 'active')] };
      await heard('a run that was given back', () =>
        bench.committed(lease, { ...active, release: { lastSeenSeq: 0 } }),
      );

      const again = present(await bench.claim(run.runId), 'a claim of the run');
      await bench.committed(again, { ...pausing(run), opens: [question(run, 1)] });
      await heard('a control signal', () => bench.append(run.runId, 'external-event'));
      const decision = 'approve' as const;
      const resolution = { plain: { decision } };
      const answer = { digest: question(run, 1).digest, decision, resolution, by: 'someone' };
      await heard('an answer', () =>
        bench.store.inbox.resolve(waitIdFor(run, 1), answer, bench.stop),
      );

      const conversationId = bench.name('conversation');
      const first = await bench.started({ conversationId });
      const second = bench.run({ conversationId });
      same((await bench.create(second, { admission: 'queue' })).kind, 'created', 'the second run');
      await heard('the next run of a conversation', () =>
        bench.committed(first.lease, ending(first.run)),
      );
      present(await other.claim(second.runId), 'a claim of the next run');
    },
    needs,
  ),
  storeRule(
    'a worker that is stopped waits no longer',
    async (bench) => {
      const stopping = new AbortController();
      const reason = new Error('enough');
      const waiting = claimable(bench, stopping.signal);
      stopping.abort(reason);
      const caught: unknown = await waiting.catch((error: unknown) => error);
      // A word may have come first.
      if (caught !== undefined) same(caught, reason, 'why it ended');
    },
    needs,
  ),
];

function claimable({ store, agent }: StoreBench, signal: AbortSignal): Promise<void> {
  return present(store.ownership.claimable, 'the capability')({ agents: [agent], signal });
}

/** Waits for a word, does something that somebody has to be told of, and fails when nothing is heard. */
function listening(
  bench: StoreBench,
): (what: string, work: () => Promise<unknown>) => Promise<void> {
  return async (what, work) => {
    const stopping = new AbortController();
    const waiting = claimable(bench, stopping.signal).then(() => 'told');
    try {
      await work();
      const silence = systemClock.sleep(SOON, stopping).then(() => 'silence');
      same(await Promise.race([waiting, silence]), 'told', what);
    } finally {
      waiting.catch(() => undefined);
      stopping.abort();
    }
  };
}
