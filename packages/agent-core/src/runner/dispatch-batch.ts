import { linked } from '../base/abort.ts';
import { acceptReturn } from './accept-result.ts';
import { hasNews, takeNews } from './act-on-signals.ts';
import type { ActiveRun } from './active-run.ts';
import { actOnAnswers } from './answer-calls.ts';
import { Arrivals } from './arrivals.ts';
import { startWhatMay } from './authorise-batch.ts';
import { beforeModel } from './boundaries.ts';
import { expireDue } from './expire-waits.ts';
import { checkLease } from './lease.ts';
import type { OpenCall, Refusal } from './open-call.ts';
import { untilDue } from './open-waits.ts';
import { closeBatch, recordResult } from './record-result.ts';
import { runCall } from './run-call.ts';

/** How a batch came to rest: every call has its result, or nothing can run until somebody answers. */
export type BatchRest = {
  readonly kind: 'complete' | 'blocked';
  readonly stepId: string | undefined;
};

/**
 * Runs the calls of the current batch: everything that may run, at once; what was learnt is stored
 * together. The commit of the last results is left to the caller, with whatever else it makes true.
 */
export async function dispatchBatch(run: ActiveRun): Promise<BatchRest> {
  const arrivals = new Arrivals();
  let stepId: string | undefined;
  const step = (): string => (stepId ??= openToolStep(run));
  run.onSignal = () => arrivals.wake();
  try {
    for (;;) {
      run.pollPoint = 'tool-boundary';
      if (hasNews(run)) await takeNews(run);
      if (run.journal !== undefined) {
        await expireDue(run);
        await actOnAnswers(run);
      }
      run.abort.throwIfAborted();
      for (const open of run.batch)
        if (open.refusal !== undefined && !open.settled) refuse(run, open, step);
      startWhatMay(run);
      const startable = run.batch.some(isStarted);
      if (!startable && !arrivals.running)
        return { kind: isComplete(run) ? 'complete' : 'blocked', stepId };
      if (
        run.journal !== undefined &&
        (needsCommit(run) || (arrivals.running && !run.journal.isEmpty))
      ) {
        await run.journal.commit({ signal: run.storage.signal });
        marksAreStored(run);
      }
      run.abort.throwIfAborted();
      if (startable) checkLease(run);
      for (const open of run.batch)
        if (isStarted(open)) launch(run, open, { arrivals, stepId: step() });
      if (arrivals.running && arrivals.empty) await news(run, arrivals);
      for (let next = arrivals.take(); next !== undefined; next = arrivals.take()) {
        const accepting = acceptReturn(run, next.open, next.returned);
        if (accepting !== undefined) await accepting;
        if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
      }
    }
  } catch (error) {
    await arrivals.settle(run);
    throw error;
  } finally {
    run.onSignal = undefined;
  }
}

/** Resolves when a call is back, a signal was read, or a wait is due. */
async function news(run: ActiveRun, arrivals: Arrivals): Promise<void> {
  const due = untilDue(run);
  if (due === undefined) return run.abort.until(arrivals.some());
  const timer = linked(run.signal);
  run.setup.clock.sleep(due, { signal: timer.signal }).then(
    () => arrivals.wake(),
    () => undefined,
  );
  try {
    await run.abort.until(arrivals.some());
  } finally {
    timer.abort(undefined);
    timer.release();
  }
}

/** Ends the tool step, and puts the row before the next model call into the same commit. */
export function finishBatch(run: ActiveRun, rest: BatchRest): void {
  closeBatch(run);
  beforeModel(run);
  if (rest.stepId !== undefined)
    run.record({ type: 'step-finished', stepId: rest.stepId, finish: 'done' });
}

function openToolStep(run: ActiveRun): string {
  const stepId = run.nextStepId();
  run.show(stepId, { type: 'step-started', stepId, kind: 'tool' });
  return stepId;
}

const isStarted = (open: OpenCall): boolean =>
  open.call.stage === 'started' && !open.running && !open.settled;
const isComplete = (run: ActiveRun): boolean => run.batch.every(({ settled }) => settled);

/** A `started` mark must be stored before its effect is dispatched; a read is repeated without one. */
function needsCommit(run: ActiveRun): boolean {
  return run.batch.some(
    (open) =>
      isStarted(open) &&
      open.committed !== open.call.attempt &&
      (open.call.attempt === 1 || open.tool?.definition.effects.access !== 'read'),
  );
}

/** Every mark that has been made is known to be stored. */
export function marksAreStored(run: ActiveRun): void {
  for (const open of run.batch) open.committed = open.call.attempt;
}

function refuse(run: ActiveRun, open: OpenCall, step: () => string): void {
  step();
  const { outcome, content, fatal } = open.refusal as Refusal;
  recordResult(run, open, {
    outcome,
    content,
    stage: outcome === 'denied' ? 'denied' : 'failed',
    own: false,
  });
  if (fatal !== undefined) throw fatal;
}

function launch(
  run: ActiveRun,
  open: OpenCall,
  { arrivals, stepId }: { readonly arrivals: Arrivals; readonly stepId: string },
): void {
  open.running = true;
  const returned = runCall(run, open, stepId);
  if (returned instanceof Promise) arrivals.expect(open, returned);
  else arrivals.add(open, returned);
}
