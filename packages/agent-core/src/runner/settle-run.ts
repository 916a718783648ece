import type { ErrorRecord } from '../base/error.ts';
import { AgentError } from '../base/error.ts';
import { endOf, type LifecycleEvent, restReasonOf } from '../durable/lifecycle.ts';
import type { RunOutcome } from '../vocabulary/outcome.ts';
import { isBusyWithSignals } from './act-on-signals.ts';
import type { ActiveRun } from './active-run.ts';
import { closeModel } from './boundaries.ts';
import { shownWait } from './call-ledger.ts';
import { pollControl } from './control-lane.ts';
import { givenKey } from './dedupe-key.ts';
import { voidedEvents } from './early-events.ts';
import { openWaits, untilDue } from './open-waits.ts';
import type { Ending, RunJournal } from './run-journal.ts';

/** How one stretch of work ended: the run paused, was given back, or is over. */
export type Rest =
  | { readonly kind: 'paused' }
  /** Given back before it came to rest: anybody may go on with it. */
  | { readonly kind: 'drained' }
  | { readonly kind: 'ended'; readonly outcome: RunOutcome };

/**
 * Gives the run back while it waits: `run-paused` and the release are part of the last commit after which
 * nothing can run. `inbox-moved`: something has arrived meanwhile; the pause is withdrawn.
 */
export async function pauseRun(
  run: ActiveRun,
  openStep: string | undefined,
): Promise<'committed' | 'inbox-moved'> {
  if (run.signalled || run.polling !== undefined) {
    // A signal that is counted as seen must have been acted on: nobody would wake the run for it again.
    run.pollPoint = 'approval-boundary';
    await pollControl(run);
    return 'inbox-moved';
  }
  // A cancellation that has been read already is off the inbox: nobody would act on it after the release.
  if (run.cancelRequest !== undefined) run.abort.throwIfAborted();
  // Above the limit of deliveries nothing is worked on, no hook either: the next owner acts on what has been read.
  if (isBusyWithSignals(run) && run.question?.poison !== true) return 'inbox-moved';
  if (openStep !== undefined && run.feed.isOpen(openStep)) {
    run.record({ type: 'step-finished', stepId: openStep, finish: 'paused' });
  }
  const waits = openWaits(run);
  const reason = restReasonOf(waits);
  run.foresee({ kind: 'rest-reached', ...(reason === undefined ? {} : { reason }) });
  run.countActive();
  run.record({
    type: 'run-paused',
    waits: waits.map(shownWait),
    usage: run.counters.usage,
    summary: run.summary(),
  });
  const stop = { signal: run.storage.signal };
  const wakeInMs = untilDue(run);
  const release = {
    lastSeenSeq: run.counters.signals,
    ...(wakeInMs === undefined ? {} : { wakeInMs }),
  };
  const poison = run.question?.poison === true ? ({ poison: true } as const) : {};
  const answer = await (run.journal as RunJournal).end({ release, ...poison }, stop);
  return foreseen(run, answer);
}

/** What the commit was to make true is true, or it was not written. */
function foreseen<Answer extends 'committed' | 'inbox-moved'>(
  run: ActiveRun,
  answer: Answer,
): Answer {
  if (answer === 'committed') run.confirm();
  else run.withdraw();
  return answer;
}

/**
 * Ends a run, once and for all. A completed run closes its inbox on the condition that it has read every
 * message; a failed or cancelled one closes it anyway and names what it has not read.
 */
export async function settleRun(
  run: ActiveRun,
  outcome: RunOutcome,
  event: LifecycleEvent = endOf(outcome),
): Promise<'committed' | 'inbox-moved'> {
  run.foresee(event);
  run.countActive();
  closeModel(run, outcome.kind === 'completed' ? 'skipped' : outcome.kind);
  nameUnread(run);
  for (const stepId of run.feed.openSteps) {
    run.record({ type: 'step-finished', stepId, finish: outcome.kind });
  }
  run.record({ type: 'run-finished', outcome, usage: run.counters.usage, summary: run.summary() });
  if (run.journal === undefined) return foreseen(run, 'committed');
  const answer = await run.journal.end(
    {
      closeInbox: outcome.kind === 'completed' ? { lastSeenSeq: run.counters.signals } : 'anyway',
      voidWaits: true,
      ...voidedEvents(run),
      ...settledTurn(run),
    },
    { signal: run.storage.signal },
  );
  return foreseen(run, answer);
}

/** A client that brings its own history keeps it, too. */
function settledTurn({ facts, runId }: ActiveRun): Pick<Ending, 'settleTurn'> {
  const { conversationId, input } = facts;
  return input.history === undefined || input.history.length === 0
    ? { settleTurn: { conversationId, runId } }
    : {};
}

function nameUnread(run: ActiveRun): void {
  if (run.unread.length + run.conversation.size === 0) return;
  const late = [...run.conversation].map(({ dedupeKey }) => givenKey(dedupeKey));
  run.unread = [...new Set([...run.unread, ...late])];
}

/** An error as events and records carry it: plain JSON. */
export function errorRecord(error: unknown): ErrorRecord {
  if (AgentError.is(error)) return { code: error.code, message: error.message, mend: error.mend };
  return {
    code: 'EXECUTE_FAILED',
    message: error instanceof Error ? error.message : String(error),
    mend: 'This is a fault in code that the run calls: look at the cause, with --debug or in the log.',
  };
}
