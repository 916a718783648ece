import { cancellationCleanupFailed } from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { endOf } from '../durable/lifecycle.ts';
import { isReadOnly } from '../tools/risk.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import type { ActiveRun } from './active-run.ts';
import { shownWait, stage } from './call-ledger.ts';
import { type CleanupTask, runCleanups } from './cleanup.ts';
import type { OpenCall } from './open-call.ts';
import { recordResult } from './record-result.ts';
import { settleRun } from './settle-run.ts';

/** `cancelling` is stored first: a crash from here on finishes the cancellation. */
export async function beginCancellation(run: ActiveRun): Promise<void> {
  run.stand({ kind: 'cancellation-requested' });
  settleCalls(run);
  await run.journal?.commit({ signal: run.storage.signal });
}

/** Every open call gets its one result: the stored history stays valid, and no effect is called failed that may have happened. */
export function settleCalls(run: ActiveRun): void {
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
  if (known !== 'failed') run.unknownEffects = [...run.unknownEffects, callId];
}

function mayWrite({ tool }: OpenCall): boolean {
  return tool === undefined || !isReadOnly(tool.definition.effects);
}

/** Nobody has to answer any more; an answer that was not acted on is void, too. The rows follow with the end of the run. */
export function closeWait(run: ActiveRun, open: OpenCall): void {
  const { wait } = open;
  if (wait?.status !== 'pending' && wait?.status !== 'resolved') return;
  open.wait = { ...wait, status: 'void' };
  open.answer = undefined;
  run.record({ type: 'wait-closed', wait: shownWait(open.wait) });
}

/** Cleans up, records what came of it, and ends the run: `cancelled`, or failed when a cleanup failed. */
export async function completeCancellation(
  run: ActiveRun,
  tasks: readonly CleanupTask[],
): Promise<RunOutcome> {
  const outcomes = await runCleanups(tasks);
  const failed = outcomes.filter(({ status }) => status === 'failed');
  const { reason, requestedBy, signalSeq } = run.cancelRequest ?? {};
  run.evidence('cancellation', {
    outcomes: outcomes as unknown as JsonObject[],
    succeeded: failed.length === 0,
    ...(signalSeq === undefined ? {} : { signalSeq }),
    ...(reason === undefined ? {} : { reason }),
    ...(requestedBy === undefined ? {} : { requestedBy }),
  });
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
