import { linked } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { RunDispatcher } from '../durable/run-dispatcher.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import { untilDue } from '../runner/open-waits.ts';
import type { RunSetup } from '../runner/run-setup.ts';
import type { Rest } from '../runner/settle-run.ts';

/** How long an engine may take to hear a hint, in milliseconds: nobody is kept by one that does not answer. */
const HINT_MS = 1_000;

type Hinting = { readonly dispatcher: RunDispatcher | undefined; readonly setup: RunSetup };

/** Tells an engine that somebody should look at a run, now or at an instant. It is a hint: whether it arrives changes nothing that is stored. */
export async function hint(
  { dispatcher, setup }: Hinting,
  rootRunId: RunId,
  at?: Instant,
): Promise<void> {
  if (dispatcher === undefined) return;
  const limit = linked();
  const timer = linked();
  setup.clock.sleep(HINT_MS, timer).then(
    () => limit.abort(undefined),
    () => undefined,
  );
  try {
    const when = at === undefined ? {} : { at };
    await limit.until(dispatcher.wake(rootRunId, { ...when, signal: limit.signal }));
  } catch {
    // Polling, or the next who asks for the run, finds what was not heard.
  } finally {
    timer.abort(undefined);
  }
}

/** What an engine has to know of a run that this process has just let go. */
export async function hintRest(parts: Hinting, run: ActiveRun, { kind }: Rest): Promise<void> {
  if (kind === 'drained') return hint(parts, run.runId);
  const due = kind === 'paused' ? untilDue(run) : undefined;
  if (due !== undefined) await hint(parts, run.runId, parts.setup.clock.now() + Math.ceil(due));
}
