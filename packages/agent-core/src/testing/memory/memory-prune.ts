import type { RunRecords } from '../../durable/run-records.ts';
import { isTerminal } from '../../vocabulary/state.ts';
import { type MemoryRoot, type MemoryState, placeOf, rootRunOf, sees } from './memory-state.ts';

type Pruning = Omit<Parameters<RunRecords['prune']>[0], 'signal'>;

/** Removes ended roots, or all of them but head and evidence; answers how many it changed. */
export function pruneRoots(state: MemoryState, { endedBefore, keep, scope }: Pruning): number {
  let pruned = 0;
  for (const root of [...state.roots.values()]) {
    const { status, statusAt } = rootRunOf(root);
    if (!isTerminal(status) || statusAt >= endedBefore) continue;
    if (scope !== undefined && !sees(scope, root.principal.scope)) continue;
    if (keep === 'evidence' && root.input === undefined) continue;
    forgetTurn(root);
    if (keep === 'evidence') stripRoot(root);
    else removeRoot(state, root);
    pruned += 1;
  }
  return pruned;
}

function forgetTurn({ conversation, rootRunId }: MemoryRoot): void {
  conversation.turns = conversation.turns.filter((id) => id !== rootRunId);
}

/** The head stays beside the evidence: without it nobody could be let in to read. */
function stripRoot(root: MemoryRoot): void {
  root.input = undefined;
  root.messages = [];
  root.events = [];
  root.head.prunedThrough = root.head.lastSeq;
  root.calls.clear();
  root.waits.clear();
  root.inbox.closed = true;
  root.inbox.signals.length = 0;
}

/** Removes events from the front, none of an open step; answers how many rows. */
export function pruneEvents({ events, head }: MemoryRoot, through: number): number {
  const open = events.findIndex(
    ({ stepId }) => stepId !== undefined && head.openSteps.includes(stepId),
  );
  const old = events.findIndex(({ lastSeq }) => lastSeq > through);
  const ends = [open, old, events.length].filter((index) => index >= 0);
  const gone = events.splice(0, Math.min(...ends));
  head.prunedThrough = gone.at(-1)?.lastSeq ?? head.prunedThrough;
  return gone.length;
}

function removeRoot(state: MemoryState, { rootRunId, principal, requestKey }: MemoryRoot): void {
  state.roots.delete(rootRunId);
  if (requestKey !== undefined) {
    state.requests.delete(placeOf(principal.scope.tenantId, requestKey));
  }
}
