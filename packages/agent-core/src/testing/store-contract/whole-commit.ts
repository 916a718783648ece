import type { Commit, WaitOpening } from '../../durable/commit.ts';
import type { RunState } from '../../vocabulary/state.ts';
import {
  callOf,
  childOf,
  eventRow,
  evidenceRow,
  inStatus,
  message,
  question,
  textRow,
} from './samples.ts';

/** A commit that writes rows of every kind. */
export type WholeCommit = Partial<Commit> &
  Required<
    Pick<Commit, 'runs' | 'calls' | 'messages' | 'evidence' | 'events' | 'lastSeq' | 'openSteps'>
  > & { readonly opens: readonly [WaitOpening] };

/** One row of every kind. */
export function everything(run: RunState): WholeCommit {
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
    opens: [question(run, 1)],
    lastSeq: eventRow(run, 3).lastSeq,
    openSteps: [`${run.runId}.s1`],
  };
}

/** Rows that come after those of `everything`. */
export function later(run: RunState): Partial<Commit> {
  return {
    runs: [inStatus(run, 'active', run.statusAt + 5)],
    calls: [callOf(run, 7)],
    messages: [message(run.runId, 7, 'seven')],
    evidence: [evidenceRow(run.runId, 7)],
    events: [eventRow(run, 7)],
    opens: [question(run, 7)],
    lastSeq: eventRow(run, 7).lastSeq,
  };
}

export function commitOf(run: RunState): Partial<Commit> {
  return { runs: [inStatus(run, 'active')] };
}

/** By run; the order within a run is kept. */
export function sortedByRun<T extends { readonly runId: string }>(
  rows: readonly T[],
): readonly T[] {
  const byRun = (left: T, right: T): number =>
    Number(left.runId > right.runId) - Number(left.runId < right.runId);
  return [...rows].sort(byRun);
}
