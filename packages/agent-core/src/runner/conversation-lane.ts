import { AgentError } from '../base/error.ts';
import { hookFailed, runCancelled } from '../base/error-catalog.ts';
import type { HookableKind, SignalHook } from '../definition/agent-definition.ts';
import { EVENT_CLASSES } from '../events/agent-event.ts';
import { fromYield } from '../events/project-yields.ts';
import type { RunSignal } from '../vocabulary/signal.ts';
import type { ActiveRun } from './active-run.ts';
import { consumed, signalText } from './control-lane.ts';

/**
 * Gives unread messages to the model, in the order of their arrival: called when no call is open, as the
 * first thing of a step. A hook may show something first; the message still reaches the model unless
 * the hook returns `'handled'`. Follow-ups wait until the run would otherwise end. False when the model has
 * got nothing.
 */
export async function readConversation(
  run: ActiveRun,
  options: { readonly stepId: string; readonly followUps: boolean },
): Promise<boolean> {
  const taken = run.conversation.filter(({ kind }) => options.followUps || kind !== 'follow-up');
  run.conversation = run.conversation.filter((signal) => !taken.includes(signal));
  let given = false;
  for (const signal of taken) {
    consumed(run, signal);
    const handled = await answered(run, { signal, stepId: options.stepId });
    if (handled) continue;
    const text = signalText(signal.payload);
    run.append({ role: 'user', origin: 'user', parts: [{ type: 'text', text }] });
    run.journal?.weighs(text.length);
    given = true;
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
  return given;
}

/** Runs the agent's hook for a signal, if it has one; true when the hook has handled it. */
async function answered(
  run: ActiveRun,
  { signal, stepId }: { readonly signal: RunSignal; readonly stepId: string },
): Promise<boolean> {
  const hook = run.facts.definition.signals[signal.kind as HookableKind] as
    | SignalHook<unknown>
    | undefined;
  if (hook === undefined) return false;
  const items = hook(signal, run.context);
  for (;;) {
    const next = await items.next().catch((error: unknown) => {
      throw AgentError.is(error) ? error : hookFailed(signal.kind, error);
    });
    if (next.done === true) return next.value === 'handled';
    const outcome = fromYield(next.value, run.nextMessageId());
    if ('event' in outcome) {
      if (EVENT_CLASSES[outcome.event.type] === 'live') run.show(stepId, outcome.event);
      else run.record(outcome.event, stepId);
      continue;
    }
    await items.return(undefined);
    if (outcome.end === 'cancel') {
      run.cancelRequest ??= {
        requestedBy: 'hook',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
      run.abort.abort(runCancelled(run.runId));
      throw run.abort.reason;
    }
    throw hookFailed(
      signal.kind,
      outcome.end === 'error'
        ? new Error(outcome.message)
        : new Error('a hook cannot end the run with "final"'),
    );
  }
}
