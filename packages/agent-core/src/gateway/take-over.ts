import { linked } from '../base/abort.ts';
import { AgentError } from '../base/error.ts';
import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { claimAndDrive, type Driven, type GatewayParts } from './drive.ts';
import type { ConversationPlace } from './owned-runs.ts';
import { isAtRest, isOver } from './watch-run.ts';

/** How often a run in other hands is asked for again. */
const LOOK_MS = 1_000;

/** A run that this process wants to drive. */
export type Wanted = {
  readonly root: RunId;
  readonly store: DurableStore;
  /** Of a run that waits for its turn: it is asked for as soon as a run of its conversation is over here. */
  readonly place?: ConversationPlace;
};

type Taking = {
  readonly signal: AbortSignal;
  /** It is asked for because of a message, which wakes no run that is at rest. */
  readonly isMessage?: boolean;
};

/**
 * Claims a run and drives it. If somebody holds it, that may be a process that has died, and if it is not its turn, that
 * comes: this one looks again, in the background, until it has the run, sees it at rest, or closes. Undefined: not here,
 * not now.
 */
export async function takeOver(
  parts: GatewayParts,
  { signal, isMessage, ...wanted }: Wanted & Taking,
): Promise<Driven | undefined> {
  const driven = await claimAndDrive(parts, wanted.root, signal);
  if (driven !== undefined) return driven;
  // Many messages may lie before a run that rests: whether one of them wakes it is not looked for, since none does.
  const head =
    isMessage === true ? await wanted.store.records.head(wanted.root, { signal }) : undefined;
  if (head === undefined || !isAtRest(head.run.status)) lookLater(parts, wanted);
  return undefined;
}

function lookLater(parts: GatewayParts, run: Wanted): void {
  const { wanted } = parts.owned;
  if (wanted.has(run.root)) return;
  wanted.add(run.root);
  const stop = (): boolean => wanted.delete(run.root);
  // The application closes, or the store has failed for good: who asks for the run next looks again.
  lookAgain(parts, run).then(stop, stop);
}

async function lookAgain(parts: GatewayParts, wanted: Wanted): Promise<void> {
  const { closing } = parts;
  for (;;) {
    try {
      if (await hasLooked(parts, wanted)) return;
    } catch (error) {
      // A store that is away for a moment takes nobody's turn away.
      if (closing.aborted || !AgentError.is(error) || !error.retryable) throw error;
      await aWhile(parts, undefined);
    }
  }
}

/** True when there is nothing to look for any more. */
async function hasLooked(parts: GatewayParts, { root, store, place }: Wanted): Promise<boolean> {
  const { closing, owned } = parts;
  if (owned.get(root) !== undefined || (await isOver(store, root, closing))) return true;
  await aWhile(parts, place === undefined ? undefined : owned.workIn(place));
  return (await claimAndDrive(parts, root, closing.signal)) !== undefined;
}

/** Until it is time to look again, or sooner, when some work is over. */
async function aWhile(
  { closing, setup }: GatewayParts,
  work: Promise<unknown> | undefined,
): Promise<void> {
  const timer = linked(closing.signal);
  try {
    const asleep = setup.clock.sleep(LOOK_MS, timer);
    if (work === undefined) return await asleep;
    const over = work.catch(() => undefined);
    await Promise.race([over, asleep]);
    asleep.catch(() => undefined);
  } finally {
    timer.abort(undefined);
    timer.release();
  }
}
