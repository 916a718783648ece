import type { ActiveRun } from './active-run.ts';
import { pollControl } from './control-lane.ts';
import type { Rest } from './settle-run.ts';

/** Why a model call was stopped: its run is given back, and the next owner asks again. */
export const DRAINED: Error = new Error('The run is given back: this process takes on no more.');

/**
 * Asks the owner of a run to give it back at the next safe boundary. A model that is answering is stopped
 * at once; tools that run may finish, and nothing else is started. A stateless run has nobody to go to.
 */
export function drain(run: ActiveRun): void {
  if (run.journal === undefined || run.draining) return;
  run.draining = true;
  run.onDrain?.();
  run.onSignal?.();
}

/** Work that nobody misses when it is stopped, since the next owner does it again: a drain stops it. */
export async function untilDrained<T>(run: ActiveRun, work: () => Promise<T>): Promise<T> {
  const stop = (): void => run.abort.abort(DRAINED);
  run.onDrain = stop;
  try {
    if (run.draining) stop();
    return await work();
  } finally {
    run.onDrain = undefined;
  }
}

/** The work on this run has been stopped by a drain, and by nothing that would end it. */
export function isStoppedByDrain(run: ActiveRun): boolean {
  return run.abort.aborted && run.abort.reason === DRAINED && run.cancelRequest === undefined;
}

/** The batch is at rest only because of a drain: calls are left that the next owner may start. */
export function leavesCalls(run: ActiveRun): boolean {
  return (
    run.draining &&
    !run.held &&
    run.batch.some(({ call, settled }) => !settled && call.stage === 'authorised')
  );
}

/**
 * Gives the run back as it is: it stays active, so anybody may go on with it. That is no progress, and takes
 * its own delivery back (DURABILITY rule 11). Undefined when a cancellation has come meanwhile: this owner ends the run.
 */
export async function giveBack(run: ActiveRun, openStep?: string): Promise<Rest | undefined> {
  const { journal } = run;
  if (openStep !== undefined && run.feed.isOpen(openStep))
    run.record({ type: 'step-finished', stepId: openStep, finish: 'paused' });
  for (;;) {
    if (run.signalled || run.polling !== undefined) await pollControl(run);
    if (run.cancelRequest !== undefined || journal === undefined) return undefined;
    run.foresee({ kind: 'run-drained' });
    run.countActive();
    const release = { lastSeenSeq: run.counters.signals };
    if ((await journal.end({ release }, { signal: run.storage.signal })) === 'committed') {
      run.confirm();
      return { kind: 'drained' };
    }
    run.withdraw();
    run.signalled = true;
  }
}
