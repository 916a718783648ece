import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { claimAndDrive, type Driven, type GatewayParts } from './drive.ts';
import { isOver } from './watch-run.ts';

/** How often a run in other hands is asked for again. */
const LOOK_MS = 1_000;

/**
 * Claims a run and drives it. If somebody holds it, that may be a process that has died: this one looks again,
 * in the background, until it has the run, sees it at rest, or closes. Undefined: not here, not now.
 */
export async function takeOver(
  parts: GatewayParts,
  {
    root,
    store,
    signal,
  }: { readonly root: RunId; readonly store: DurableStore; readonly signal: AbortSignal },
): Promise<Driven | undefined> {
  const driven = await claimAndDrive(parts, root, signal);
  if (driven === undefined) lookLater(parts, { root, store });
  return driven;
}

function lookLater(
  parts: GatewayParts,
  run: { readonly root: RunId; readonly store: DurableStore },
): void {
  const { wanted } = parts.owned;
  if (wanted.has(run.root)) return;
  wanted.add(run.root);
  const stop = (): boolean => wanted.delete(run.root);
  // The application closes, or the store is away: who asks for the run next looks again.
  lookAgain(parts, run).then(stop, stop);
}

async function lookAgain(
  parts: GatewayParts,
  { root, store }: { readonly root: RunId; readonly store: DurableStore },
): Promise<void> {
  const { closing, owned, setup } = parts;
  for (;;) {
    if (owned.get(root) !== undefined || (await isOver(store, root, closing.signal))) return;
    await setup.clock.sleep(LOOK_MS, closing);
    if ((await claimAndDrive(parts, root, closing.signal)) !== undefined) return;
  }
}
