import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { isTerminal, type RunState } from '../vocabulary/state.ts';
import { headFor, statelessFor } from './access.ts';
import type { Caller } from './caller.ts';
import type { Driven, GatewayParts } from './drive.ts';
import { followedHandle, ownedHandle } from './handles.ts';
import type { RunHandle } from './run-handle.ts';
import { takeOver } from './take-over.ts';

/**
 * Joins a run wherever it is: owns it if nobody does, else follows its log from where it is now, and takes it over
 * when its owner has died and the lease is over.
 */
export async function resumeRun(
  parts: GatewayParts,
  runId: RunId,
  caller: Caller,
): Promise<RunHandle> {
  if (statelessFor(parts, runId, caller) !== undefined)
    return followedHandle(parts, { runId, after: 0 });
  const { run, lastSeq, store } = await headFor(parts, runId, caller);
  const driven = await join(parts, { run, store, signal: caller.signal });
  return driven === undefined
    ? followedHandle(parts, { runId: run.rootRunId, after: lastSeq })
    : ownedHandle(parts, driven, lastSeq);
}

/** Takes a run that is not over when nobody has it, and else looks out for it: undefined while it is in other hands. */
export async function join(
  parts: GatewayParts,
  {
    run: { rootRunId: root, status, agent },
    store,
    signal,
  }: { readonly run: RunState; readonly store: DurableStore; readonly signal: AbortSignal },
): Promise<Driven | undefined> {
  if (isTerminal(status) || isWorkedOn(parts, root) || !parts.agents.has(agent)) return undefined;
  return takeOver(parts, { root, store, signal });
}

/** Here, and not about to be given back: then the store knows better whether it can be had. */
function isWorkedOn({ owned }: GatewayParts, root: RunId): boolean {
  return owned.get(root)?.feed.isQuiet === false;
}
