import type { Stop } from '../base/abort.ts';
import type { CleanupOutcome, CleanupTarget } from '../vocabulary/cancellation.ts';

/**
 * Something that is put in order before a cancelled run ends. `stop` is not the run's own signal, which is
 * aborted by then: it is aborted when the cleanup takes too long, or when the run is in other hands.
 */
export type CleanupTask = CleanupTarget & { readonly cleanup: (stop: Stop) => Promise<void> };

/** Runs every cleanup, one after the other, also when one throws. */
export async function runCleanups(
  tasks: readonly CleanupTask[],
  stop: Stop = { signal: new AbortController().signal },
): Promise<readonly CleanupOutcome[]> {
  const outcomes: CleanupOutcome[] = [];
  for (const task of tasks) outcomes.push(await runCleanup(task, stop));
  return outcomes;
}

/** Runs one cleanup, and says what came of it. Never throws. */
export async function runCleanup(
  { target, targetRef, cleanup }: CleanupTask,
  stop: Stop,
): Promise<CleanupOutcome> {
  try {
    await cleanup(stop);
    return { target, targetRef, status: 'succeeded' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { target, targetRef, status: 'failed', message };
  }
}
