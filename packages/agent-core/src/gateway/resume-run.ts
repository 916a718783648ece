import type { RunId } from '../base/ids.ts';
import { isTerminal } from '../vocabulary/state.ts';
import { headFor, statelessFor } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
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
  const root = run.rootRunId;
  if (!isTerminal(run.status) && !isWorkedOn(parts, root) && parts.agents.has(run.agent)) {
    const driven = await takeOver(parts, { root, store, signal: caller.signal });
    if (driven !== undefined) return ownedHandle(parts, driven, lastSeq);
  }
  return followedHandle(parts, { runId: root, after: lastSeq });
}

/** Here, and not about to be given back: then the store knows better whether it can be had. */
function isWorkedOn({ owned }: GatewayParts, root: RunId): boolean {
  return owned.get(root)?.feed.isQuiet === false;
}
