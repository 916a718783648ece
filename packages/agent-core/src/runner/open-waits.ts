import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';

/** The questions of the current batch that nobody has answered, in call order. */
export function openWaits(run: ActiveRun): readonly WaitRecord[] {
  return run.batch.flatMap(({ wait, settled }) =>
    !settled && wait?.status === 'pending' ? [wait] : [],
  );
}

/** How long until the first open wait is due; undefined when none ever is. */
export function untilDue(run: ActiveRun): number | undefined {
  if (run.journal === undefined) return undefined;
  const now = run.setup.clock.now();
  const due = openWaits(run).flatMap(({ expiresAt }) =>
    expiresAt === undefined ? [] : [expiresAt - now],
  );
  return due.length === 0 ? undefined : Math.max(0, Math.min(...due));
}
