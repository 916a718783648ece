import { runSuperseded } from '../base/error-catalog.ts';
import type { ActiveRun } from './active-run.ts';

/** The owner stops by itself this part of a lease before it is over (DURABILITY rule 13). */
export const LEASE_MARGIN: number = 1 / 6;

/** The run is somebody else's, or nobody's: nothing more is started, stored or shown here. */
export function loseLease(run: ActiveRun, reason: unknown): void {
  if (run.journal !== undefined) run.storage.abort(reason);
  run.abort.abort(reason);
}

/**
 * An owner that was suspended comes back with its `started` marks stored and its lease over: somebody else may have
 * done since what it is about to do. It gives the run up; who has it now, or next, knows the marks.
 *
 * @throws AgentError `RUN_SUPERSEDED`
 */
export function checkLease(run: ActiveRun): void {
  const { journal, setup } = run;
  if (journal === undefined) return;
  const silenceMs = setup.clock.monotonic() - journal.heardAt;
  if (silenceMs < journal.lease.ttlMs * (1 - LEASE_MARGIN)) return;
  const reason = runSuperseded(run.runId);
  loseLease(run, reason);
  throw reason;
}
