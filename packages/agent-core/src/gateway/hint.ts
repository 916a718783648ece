import { NEVER_ABORTED } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { RunDispatcher } from '../durable/run-dispatcher.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import { untilDue } from '../runner/open-waits.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { Rest } from '../runner/settle-run.ts';

type Hinting = { readonly dispatcher: RunDispatcher | undefined };

/** Tells an engine that somebody should look at a run, now or at an instant. It is a hint: whether it arrives changes nothing that is stored. */
export async function hint({ dispatcher }: Hinting, rootRunId: RunId, at?: Instant): Promise<void> {
  if (dispatcher === undefined) return;
  try {
    const when = at === undefined ? {} : { at };
    await dispatcher.wake(rootRunId, { ...when, signal: NEVER_ABORTED });
  } catch {
    // Polling, or the next who asks for the run, finds what was not heard.
  }
}

/** What an engine has to know of a run that this process has just let go. */
export async function hintRest(
  parts: Hinting & { readonly setup: RunSetup },
  run: ActiveRun,
  { kind }: Rest,
): Promise<void> {
  if (kind === 'drained') return hint(parts, run.runId);
  const due = kind === 'paused' ? untilDue(run) : undefined;
  if (due !== undefined) await hint(parts, run.runId, parts.setup.clock.now() + Math.ceil(due));
}
