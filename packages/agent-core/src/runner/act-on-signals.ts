import type { DurableStore } from '../durable/durable-store.ts';
import type { RunSignal } from '../vocabulary/signal.ts';
import type { WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { consumed, pollControl } from './control-lane.ts';
import { forgetEvent, keepEvent } from './early-events.ts';
import { keep } from './keeping.ts';
import type { OpenCall } from './open-call.ts';
import { callHook } from './signal-hooks.ts';

/**
 * Something has been read and not been acted on yet, or an event lies there for a wait that has been opened
 * since: a run does not rest before it has.
 */
export function isBusyWithSignals(run: ActiveRun): boolean {
  return (
    run.addressed.size > 0 ||
    run.early.some(({ signal }) => hasAnswered(run, signal) || waitingFor(run, signal).length > 0)
  );
}

/** At a boundary: there is something to read or to act on. */
export function hasNews(run: ActiveRun): boolean {
  return run.signalled || isBusyWithSignals(run);
}

/** At a boundary: reads what is new, and acts on everything that can be acted on now. */
export async function takeNews(run: ActiveRun): Promise<void> {
  if (run.signalled) await pollControl(run);
  if (run.abort.aborted || !isBusyWithSignals(run)) return;
  const steps = new OwnStep(run);
  let asked = false;
  // First those that have waited longest: of two events of one name the first one is handed over first.
  for (const event of run.early) {
    // An owner before may have handed it over and been lost before it could forget it.
    const before = hasAnswered(run, event.signal);
    const waiting = waitingFor(run, event.signal);
    if (!before && waiting.length === 0) continue;
    asked = true;
    await storeWaits(run);
    if ((await answer(run, { signal: event.signal, waiting })) || before) forgetEvent(run, event);
  }
  // What is read meanwhile stands behind them, and has its turn too.
  for (const signal of run.addressed) {
    asked = (await actOn(run, signal, steps.id)) || asked;
    run.addressed.delete(signal);
    if (run.journal?.isFull === true) await run.journal.commit({ signal: run.storage.signal });
  }
  await steps.end();
  if (asked) await pollControl(run);
}

/**
 * Consumes a control signal: the hook of the agent first, then what the framework does, unless the hook has
 * done it. The waits that it answers are answered before the commit that takes it off the inbox, so a crash in
 * between finds the signal again, and the answer. True when a wait has been answered.
 */
async function actOn(run: ActiveRun, signal: RunSignal, step: () => string): Promise<boolean> {
  const before = hasAnswered(run, signal);
  // Also when an owner before has answered with it: it may have been lost before it came to the next wait.
  const waiting = waitingFor(run, signal);
  if (waiting.length > 0) await storeWaits(run);
  consumed(run, signal);
  run.journal?.progressed();
  if (await callHook(run, { signal, step })) return before;
  if ((await answer(run, { signal, waiting })) || before) return true;
  // The body of a custom `execute` asks for events and wake-ups when it wants them.
  const isOfBody = run.facts.definition.execute !== undefined;
  if (signal.kind === 'external-event' || isOfBody) await keepEvent(run, signal);
  return waiting.length > 0;
}

/** Live events of a hook need a step: one is opened when there is none. */
class OwnStep {
  readonly #run: ActiveRun;
  #own: string | undefined;

  constructor(run: ActiveRun) {
    this.#run = run;
  }

  readonly id = (): string => {
    const run = this.#run;
    if (run.currentStep !== '') return run.currentStep;
    this.#own = run.nextStepId();
    run.show(this.#own, { type: 'step-started', stepId: this.#own, kind: 'signal' });
    return this.#own;
  };

  /** Its end is stored: the number of a step that was shown is not given to another one. */
  async end(): Promise<void> {
    if (this.#own === undefined) return;
    this.#run.record({ type: 'step-finished', stepId: this.#own, finish: 'done' });
    await this.#run.journal?.commit({ signal: this.#run.storage.signal });
  }
}

/** A call, and its open wait. */
type Waiting = { readonly open: OpenCall; readonly wait: WaitRecord };

/** The calls whose open wait a signal answers. */
function waitingFor(run: ActiveRun, { kind, payload }: RunSignal): readonly Waiting[] {
  switch (kind) {
    case 'external-event':
      return openOf(run, 'event', ({ prompt }) => prompt['name'] === payload['name']);
    case 'scheduler-wake-up':
      // Without a name it says to look at the clock again, which every boundary does.
      return openOf(run, 'timer', ({ id }) => id === payload['waitId']);
    default:
      return [];
  }
}

function openOf(
  run: ActiveRun,
  kind: WaitRecord['kind'],
  fits: (wait: WaitRecord) => boolean,
): readonly Waiting[] {
  return run.batch.flatMap((open) => {
    const { wait, settled, answer: given } = open;
    if (wait?.kind !== kind || wait.status !== 'pending' || settled || given !== undefined)
      return [];
    return fits(wait) ? [{ open, wait }] : [];
  });
}

/** Answers every wait that a signal is for, through the same door as a person's answer; false when none was left. */
async function answer(
  run: ActiveRun,
  { signal, waiting }: { readonly signal: RunSignal; readonly waiting: readonly Waiting[] },
): Promise<boolean> {
  const { store, sealer } = run.setup;
  const { inbox } = store as DurableStore; // Only a run with a store has waits.
  const by = answererOf(signal);
  let taken = false;
  for (const { open, wait } of waiting) {
    const { id, digest } = wait;
    const resolution = { decision: 'answer' as const, value: signal.payload['value'] ?? null };
    const kept = await keep(resolution, { sealer, boundTo: `${id}/resolution` });
    const given = { digest, decision: 'answer' as const, resolution: kept, by };
    const result = await inbox.resolve(id, given, { signal: run.storage.signal });
    if (result.kind === 'resolved') open.wait = { ...wait, status: 'resolved', resolvedBy: by };
    if (result.kind === 'already') open.wait = { ...wait, ...result.wait };
    // Whether a wait is due is the word of the store's clock: the next boundary closes this one.
    if (result.kind === 'expired') open.wait = { ...wait, expiresAt: wait.openedAt };
    taken = open.wait?.resolvedBy === by || taken;
  }
  return taken;
}

/** Only a wait that is stored can be answered. */
async function storeWaits(run: ActiveRun): Promise<void> {
  if (run.journal?.isEmpty === false) await run.journal.commit({ signal: run.storage.signal });
}

/** Who answered, as the wait and its evidence name it: one signal answers once, also when it is read again after a crash. */
function answererOf({ kind, seq }: RunSignal): string {
  return `${kind}:${seq}`;
}

function hasAnswered(run: ActiveRun, signal: RunSignal): boolean {
  const by = answererOf(signal);
  return run.batch.some(({ wait }) => wait?.resolvedBy === by);
}
