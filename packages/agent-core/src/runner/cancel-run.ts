import { linked } from '../base/abort.ts';
import { cancellationCleanupFailed } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { endOf } from '../durable/lifecycle.ts';
import { isReadOnly } from '../tools/risk.ts';
import type { Cancellation, CleanupOutcome, CleanupTarget } from '../vocabulary/cancellation.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import type { ActiveRun } from './active-run.ts';
import { afterWait, bodyBoundary, boundary } from './boundaries.ts';
import { shownWait, stage } from './call-ledger.ts';
import { type CleanupTask, runCleanup } from './cleanup.ts';
import type { OpenCall } from './open-call.ts';
import { isPoisoned } from './poison.ts';
import { recordResult } from './record-result.ts';
import { closeQuestion } from './run-question.ts';
import { settleRun } from './settle-run.ts';

/** `cancelling` is stored first, with what is to be put in order: a crash from here on finishes the cancellation. */
export async function beginCancellation(
  run: ActiveRun,
  tasks: readonly CleanupTask[],
): Promise<void> {
  run.stand({ kind: 'cancellation-requested' });
  const { reason, requestedBy, signalSeq } = run.cancelRequest ?? {};
  run.cancellation ??= {
    ...(reason === undefined ? {} : { reason }),
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...(signalSeq === undefined ? {} : { signalSeq }),
    outcomes: [],
    remaining: tasks.map(({ target, targetRef }) => ({ target, targetRef })),
  };
  settleCalls(run);
  await run.journal?.commit({ signal: run.storage.signal });
}

/** Every open call gets its one result: the stored history stays valid, and no effect is called failed that may have happened. */
export function settleCalls(run: ActiveRun): void {
  closeQuestion(run);
  for (const open of run.batch) {
    if (open.settled) continue;
    closeWait(run, open);
    const started = open.call.stage === 'started' || open.call.stage === 'unknown';
    const doubtful = started && open.call.resume !== 'retry';
    if (open.call.step === 0) {
      // The body of a custom `execute`: nobody called it, so nobody reads a result of it.
      open.settled = true;
      settleBody(run, open);
      continue;
    }
    recordResult(run, open, {
      outcome: 'interrupted',
      content: [
        {
          type: 'text',
          text:
            started && mayWrite(open)
              ? 'Interrupted: the run ended. It is not known whether this call took effect.'
              : 'Interrupted: the run ended. This call did not take effect.',
        },
      ],
      stage: doubtful ? 'unknown' : 'interrupted',
      own: false,
    });
  }
}

function settleBody(run: ActiveRun, open: OpenCall): void {
  const { callId, stage: known } = open.call;
  stage(run, open, known === 'failed' ? known : 'unknown');
  boundary(run, bodyBoundary(open.call, 'after'));
  if (known !== 'failed') run.unknownEffects = [...run.unknownEffects, callId];
}

function mayWrite({ tool }: OpenCall): boolean {
  return tool === undefined || !isReadOnly(tool.definition.effects);
}

/** Nobody has to answer any more; an answer that was not acted on is void, too. The rows follow with the end of the run. */
export function closeWait(run: ActiveRun, open: OpenCall): void {
  const { wait } = open;
  if (wait?.status === 'expired' && open.call.stage === 'suspended') afterWait(run, wait);
  if (wait?.status !== 'pending' && wait?.status !== 'resolved') return;
  open.wait = { ...wait, status: 'void' };
  open.answer = undefined;
  run.record({ type: 'wait-closed', wait: shownWait(open.wait) });
  afterWait(run, open.wait);
}

/** Cleans up, records what came of it, and ends the run: `cancelled`, or failed when a cleanup failed. */
export async function completeCancellation(
  run: ActiveRun,
  tasks: readonly CleanupTask[],
): Promise<RunOutcome> {
  await cleanUp(run, tasks);
  const { outcomes, remaining: _none, ...request } = run.cancellation as Cancellation;
  const failed = outcomes.filter(({ status }) => status === 'failed');
  run.evidence('cancellation', {
    outcomes: outcomes as unknown as JsonObject[],
    succeeded: failed.length === 0,
    ...request,
  });
  const { reason, requestedBy } = request;
  const outcome: RunOutcome =
    failed.length === 0
      ? {
          kind: 'cancelled',
          ...(reason === undefined ? {} : { reason }),
          ...(requestedBy === undefined ? {} : { requestedBy }),
        }
      : {
          kind: 'failed',
          error: cancellationCleanupFailed(
            failed.map(({ targetRef, message }) => `${targetRef}: ${message}`),
          ).toRecord(),
        };
  await settleRun(run, outcome, failed.length === 0 ? endOf(outcome) : { kind: 'cleanup-failed' });
  return outcome;
}

/** Every cleanup that has not ended, one after the other; each outcome is stored before the next one begins. */
async function cleanUp(run: ActiveRun, tasks: readonly CleanupTask[]): Promise<void> {
  for (;;) {
    const { outcomes, remaining, ...request } = run.cancellation as Cancellation;
    const [next, ...others] = remaining;
    if (next === undefined) return;
    const outcome = await cleanedUp(run, next, tasks);
    run.cancellation = { ...request, outcomes: [...outcomes, outcome], remaining: others };
    run.storage.throwIfAborted();
    // The last one is stored with the end of the run.
    if (others.length > 0) await run.journal?.commit({ signal: run.storage.signal });
  }
}

/** A cleanup that takes longer has failed: a run that is being cancelled does end. */
const CLEANUP_MS = 30_000;

async function cleanedUp(
  run: ActiveRun,
  { target, targetRef }: CleanupTarget,
  tasks: readonly CleanupTask[],
): Promise<CleanupOutcome> {
  const task = tasks.find((one) => one.target === target && one.targetRef === targetRef);
  if (isPoisoned(run))
    return { target, targetRef, status: 'skipped', message: 'Too many workers were lost over it.' };
  if (task === undefined)
    return {
      target,
      targetRef,
      status: 'skipped',
      message: 'The process that could do it is gone.',
    };
  const limit = linked(run.storage.signal);
  const timer = linked(run.storage.signal);
  run.setup.clock.sleep(CLEANUP_MS, timer).then(
    () => limit.abort(new Error(`It did not end within ${CLEANUP_MS} ms.`)),
    () => undefined,
  );
  try {
    const outcome = await runCleanup(
      { ...task, cleanup: (stop) => limit.until(task.cleanup(stop)) },
      limit,
    );
    const { message } = outcome;
    return message === undefined
      ? outcome
      : { ...outcome, message: run.guard?.text(message) ?? message };
  } finally {
    timer.abort(undefined);
    timer.release();
    limit.release();
  }
}
