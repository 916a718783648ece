import type { DurableStore } from '../durable/durable-store.ts';
import type { ActiveRun } from '../runner/active-run.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { GatewayParts } from './drive.ts';
import { runIn, shownTree } from './shown-tree.ts';

/**
 * A stored run as it may be shown: marked values that tools have put into the shared state are masked, as they are in its
 * events. The tree is read only where there can be any.
 */
export async function shownState(
  parts: Pick<GatewayParts, 'setup' | 'agents'>,
  run: RunState,
  { store, signal }: { readonly store: DurableStore; readonly signal: AbortSignal },
): Promise<RunState> {
  if (Object.keys(run.shared).length === 0 || !mayHoldMarks(parts, run.agent)) return run;
  const tree = await store.records.load(run.rootRunId, { signal });
  if (tree === undefined) return { ...run, shared: {} };
  return { ...run, shared: runIn((await shownTree(parts, tree)).runs, run).shared };
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
