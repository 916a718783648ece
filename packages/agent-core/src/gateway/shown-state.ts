import type { DurableStore } from '../durable/durable-store.ts';
import { standingAfter } from '../durable/lifecycle.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { GatewayParts } from './drive.ts';
import { runIn, shownTree } from './shown-tree.ts';

/**
 * A stored run as it may be shown: where it stands now, and marked values that tools have put into the shared state are masked, as
 * they are in its events. The tree is read only where there can be any. `fence`: of its newest owner, where that is known.
 */
export async function shownState(
  parts: Pick<GatewayParts, 'setup' | 'agents' | 'owned'>,
  stored: RunState,
  {
    store,
    fence,
    signal,
  }: { readonly store: DurableStore; readonly fence?: number; readonly signal: AbortSignal },
): Promise<RunState> {
  const run = asTakenUp(parts, stored, fence);
  if (Object.keys(run.shared).length === 0 || !mayHoldMarks(parts, run.agent)) return run;
  const tree = await store.records.load(run.rootRunId, { signal });
  if (tree === undefined) return { ...run, shared: {} };
  return { ...run, shared: runIn((await shownTree(parts, tree)).runs, run).shared };
}

/**
 * A run that somebody has taken up is active, which its row says with the first commit of that owner only: a model may be answering for
 * minutes before. Of runs in other processes only the first owner can be told from the row.
 */
export function asTakenUp(
  { owned }: Pick<GatewayParts, 'owned'>,
  run: RunState,
  fence = 0,
): RunState {
  const { status, rootRunId } = run;
  if (rootRunId !== run.runId || (status !== 'created' && status !== 'interrupted')) return run;
  const here = owned.get(rootRunId);
  const isTaken = here === undefined ? status === 'created' && fence > 0 : !here.feed.isQuiet;
  if (!isTaken) return run;
  const { reason: _reason, ...unreasoned } = run;
  return { ...unreasoned, ...standingAfter(run, { kind: 'run-claimed' }) };
}

/** The same for a run that is nowhere but here. */
export function shownHere(run: ActiveRun): RunState {
  const row = run.row();
  return run.guard === undefined ? row : { ...row, shared: run.guard.json(row.shared) };
}

/** Tools of a source are known while it is open only: what they mark nobody can say before. */
function mayHoldMarks({ agents }: Pick<GatewayParts, 'agents'>, agent: string): boolean {
  const definition = agents.get(agent);
  if (definition === undefined || definition.toolSources.length > 0) return true;
  return definition.catalogue.tools.some(
    ({ definition: { inputMarks, outputMarks } }) => inputMarks.length + outputMarks.length > 0,
  );
}
