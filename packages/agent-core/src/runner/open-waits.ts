import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';

/** The questions that nobody has answered: about the run as a whole, then of the current batch, in call order. */
export function openWaits(run: ActiveRun): readonly WaitRecord[] {
  const { question, batch } = run;
  const waits = batch.flatMap(({ wait, settled }) =>
    !settled && wait?.status === 'pending' ? [wait] : [],
  );
  return question?.wait.status === 'pending' ? [question.wait, ...waits] : waits;
}

/** How long until the first open wait is due; undefined when none ever is. */
export function untilDue(run: ActiveRun): number | undefined {
  if (run.journal === undefined) return undefined;
  const now = run.journal.storeNow;
  const due = openWaits(run).flatMap(({ expiresAt }) =>
    expiresAt === undefined ? [] : [expiresAt - now],
  );
  return due.length === 0 ? undefined : Math.max(0, Math.min(...due));
}
