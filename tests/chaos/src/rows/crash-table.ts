import { type Case, doubtsOf, killedAt, type Row } from '../matrix/row.ts';
import { beforeCleanups, betweenCleanups, poisonedCancellation } from './cancellations.ts';
import { decidedAtExpiry, decidedAtOnce, resolvedByAnOutsider } from './decisions.ts';
import { messageBeforeTheEnd, messageBeforeTheRelease } from './messages.ts';
import { queuedBehind } from './queued.ts';
import { wokenUp } from './woken-up.ts';

/**
 * The crash table of the durability design, row by row and in its order. Where a step of the run matters it is
 * the second one: there is one before it that must not happen again.
 */
export const CRASH_TABLE: readonly Row[] = [
  {
    id: 'created',
    name: 'after create, before the first claim or the model',
    cases: [killedAt({ at: 'after create' }), queuedBehind, killedAt({ at: 'model asked' })],
  },
  {
    id: 'streaming',
    name: 'in the model stream (with or without flushed deltas)',
    cases: [
      killedAt({ at: 'in the model stream', step: 2 }),
      killedAt({ at: 'after commit flush', step: 1 }, { common: { script: 'slow-stream' } }),
    ],
  },
  {
    id: 'answered',
    name: 'model answered, before its commit',
    cases: [
      killedAt({ at: 'model answered', step: 2 }),
      killedAt({ at: 'before commit answer', step: 2 }),
    ],
  },
  {
    id: 'authorised',
    name: 'after that commit, before dispatch',
    cases: [
      killedAt({ at: 'after commit answer', step: 2 }, { doubtful: true, common: { asks: false } }),
    ],
  },
  {
    id: 'effect',
    name: 'effect done, before its commit',
    cases: [
      killedAt({ at: 'after the effect', step: 2 }, { doubtful: true }),
      killedAt(
        { at: 'before commit result', step: 2 },
        { doubtful: true, common: { asks: false } },
      ),
    ],
  },
  {
    id: 'result',
    name: 'result committed, not shown',
    cases: [killedAt({ at: 'after commit result', step: 2 })],
  },
  {
    id: 'waits',
    name: 'waits committed, not shown',
    cases: [killedAt({ at: 'after commit question', step: 2 })],
  },
  {
    id: 'resolved',
    name: 'resolved, before consumption',
    cases: [killedAt({ at: 'after resolve', step: 2 }), resolvedByAnOutsider],
  },
  {
    id: 'used',
    name: '`used` + `started` committed, before the effect',
    cases: [
      killedAt({ at: 'after commit use', step: 2 }, { doubtful: true }),
      killedAt({ at: 'before the effect', step: 2 }, { doubtful: true }),
    ],
  },
  {
    id: 'decisions',
    name: 'approve ∥ expire ∥ reject ∥ cancel',
    cases: [decidedAtOnce, decidedAtExpiry],
  },
  {
    id: 'answer-lost',
    name: 'commit sent, answer lost',
    cases: [
      ...(['answers-lost', 'commits-lost'] as const).map(
        (fault): Case => ({
          name: `every commit is sent twice (${fault})`,
          common: { faults: [fault] },
          play: async (cell) => (await cell.finished()).runId,
        }),
      ),
      // The first one is stored, and the effect that it announces did not happen; the second one is not, and it did.
      killedAt(
        { at: 'before use is sent again', step: 2 },
        { doubtful: true, common: { faults: ['answers-lost'] } },
      ),
      killedAt(
        { at: 'before result is sent again', step: 2 },
        { doubtful: true, common: { faults: ['commits-lost'] } },
      ),
    ],
  },
  { id: 'woken', name: 'old owner wakes up', cases: wokenUp },
  {
    id: 'child',
    name: "child finished, before the parent's result",
    leftOut: () => 'a run has no local children yet: they come with delegation',
    cases: [],
  },
  {
    id: 'compaction',
    name: 'in compaction',
    leftOut: () => 'there is no compaction yet: it comes with the context',
    cases: [],
  },
  {
    id: 're-ask',
    name: 'in re-ask',
    cases: [
      killedAt({ at: 'before commit re-ask' }, { common: { script: 're-ask' } }),
      killedAt({ at: 'after commit re-ask' }, { common: { script: 're-ask' } }),
    ],
  },
  {
    id: 'cleanups',
    name: 'in cancelling, between two cleanups',
    cases: [beforeCleanups, betweenCleanups],
  },
  {
    id: 'repeated',
    name: 'new owner committed the repeat, crashed',
    cases: [
      {
        name: 'killed before the effect, and before its repeat',
        play: async (cell) => {
          await cell.killedAt({ at: 'before the effect', step: 2, how: 'kill' });
          // A read is repeated without a commit.
          await cell.killedAt(
            cell.tool === 'read-only' ? 'before the effect' : 'after commit repeat',
          );
          return (await cell.finished()).runId;
        },
        expected: (tool) => ({ doubts: 2 * doubtsOf(tool) }),
      },
    ],
  },
  {
    id: 'claimed',
    name: 'claim answered to nobody',
    cases: [
      {
        name: 'killed, and the next one killed with its claim',
        play: async (cell) => {
          await cell.killedAt({ at: 'model asked', step: 2, how: 'kill' });
          await cell.killedAt('after claim');
          return (await cell.finished()).runId;
        },
      },
    ],
  },
  {
    id: 'poisoned',
    name: 'in cancelling above the poison limit',
    cases: [poisonedCancellation],
  },
  {
    id: 'released',
    name: 'release committed, answer not seen',
    cases: [killedAt({ at: 'after commit pause', step: 2 }), messageBeforeTheRelease],
  },
  {
    id: 'ended',
    name: 'terminal commit, not shown',
    cases: [killedAt({ at: 'before commit end' }), killedAt({ at: 'after commit end' })],
  },
  { id: 'message', name: 'message ∥ end', cases: messageBeforeTheEnd },
];
