import { AgentError } from '../base/error.ts';
import { hookFailed, runCancelled } from '../base/error-catalog.ts';
import type { HookableKind, SignalHook } from '../definition/agent-definition.ts';
import { EVENT_CLASSES } from '../events/agent-event.ts';
import type { AgentYield } from '../events/agent-yield.ts';
import { fromYield } from '../events/project-yields.ts';
import type { RunSignal, SignalKind } from '../vocabulary/signal.ts';
import type { ActiveRun } from './active-run.ts';

/** The agent's own answer to signals of a kind, if it has one. */
export function hookFor(run: ActiveRun, kind: SignalKind): SignalHook<unknown> | undefined {
  return run.facts.definition.signals[kind as HookableKind] as SignalHook<unknown> | undefined;
}

/**
 * Runs the agent's hook for a signal, if it has one, and shows what it yields. True when the hook has
 * handled the signal: then the framework does nothing more with it. A cancellation is not held up by a hook.
 *
 * @param options.step where live events belong; asked for when there is one.
 * @throws AgentError `HOOK_FAILED` for whatever the hook throws that is no error of ours.
 */
export async function callHook(
  run: ActiveRun,
  { signal, step }: { readonly signal: RunSignal; readonly step: () => string },
): Promise<boolean> {
  const hook = hookFor(run, signal.kind);
  if (hook === undefined) return false;
  const items: AsyncGenerator<AgentYield, unknown, void> = hook(signal, run.context);
  for (;;) {
    const next = await run.abort.until(items.next()).catch((error: unknown) => {
      if (run.abort.aborted) leave(items);
      throw run.abort.aborted || AgentError.is(error) ? error : hookFailed(signal.kind, error);
    });
    if (next.done === true) return next.value === 'handled';
    await show(run, { items, item: next.value, signal, step });
  }
}

async function show(
  run: ActiveRun,
  {
    items,
    item,
    signal,
    step,
  }: {
    readonly items: AsyncGenerator<AgentYield, unknown, void>;
    readonly item: AgentYield;
    readonly signal: RunSignal;
    readonly step: () => string;
  },
): Promise<void> {
  const outcome = fromYield(item, run.nextMessageId());
  if ('event' in outcome) {
    if (EVENT_CLASSES[outcome.event.type] === 'live') run.show(step(), outcome.event);
    else run.record(outcome.event, run.currentStep === '' ? undefined : run.currentStep);
    return;
  }
  await items.return(undefined);
  if (outcome.end !== 'cancel')
    throw hookFailed(
      signal.kind,
      outcome.end === 'error'
        ? new Error(outcome.message)
        : new Error('a hook cannot end the run with "final"'),
    );
  run.cancelRequest ??= {
    requestedBy: 'hook',
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
  };
  run.abort.abort(runCancelled(run.runId));
  throw run.abort.reason;
}

/** Told to stop and not waited for: what it throws on its way out is of no use to anybody. */
function leave(items: AsyncGenerator<AgentYield, unknown, void>): void {
  items.return(undefined).catch(() => undefined);
}
