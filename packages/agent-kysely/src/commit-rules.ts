import type { Commit, RunId } from '@hexagent/agent-core';
import { storeFailed } from './failure.ts';

/** The newest signal that a commit says it has seen, if it depends on that. */
export function lastSeen({ release, closeInbox }: Commit): number | undefined {
  const ending = typeof closeInbox === 'object' ? closeInbox.lastSeenSeq : undefined;
  if (release === undefined) return ending;
  return Math.min(release.lastSeenSeq, ending ?? release.lastSeenSeq);
}

export function writtenBefore(root: RunId, what: string): Error {
  return storeFailed(
    `A commit of ${root} was refused: ${what} was written before. Nothing of it was written.`,
    'Sending the same again will not help: a number of the log, the evidence or a message is given once.',
  );
}

export function notUnread(root: RunId, seqs: readonly number[]): Error {
  return storeFailed(
    `A commit of ${root} was refused: of the signals ${seqs.join(', ')} one is not there or was consumed before. Nothing of it was written.`,
    'Sending the same again will not help: read the inbox, then decide again.',
  );
}

/** There is a run of this id. */
export function idTaken(root: RunId): Error {
  return storeFailed(
    `Run ${root} was not created: there is a run of this id.`,
    'Make a new id for every run; to send a creation again safely, give it a request key.',
  );
}
