import type { Page } from '../../base/page.ts';
import type {
  RunHead,
  RunQuery,
  RunRecords,
  RunTree,
  WaitQuery,
} from '../../durable/run-records.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Wait } from '../../vocabulary/wait.ts';
import { shownWait } from './memory-inbox.ts';
import { pruneRoots } from './memory-prune.ts';
import { type MemoryRoot, type MemoryState, rootRunOf, sees } from './memory-state.ts';
import { comparePlaces, cursorOf, type Place, pageOf, placeOfCursor } from './page-of.ts';

/** Read views, and retention. */
export function memoryRecords(state: MemoryState): RunRecords {
  return {
    head: async (rootRunId, { signal }) => {
      signal.throwIfAborted();
      const root = state.roots.get(rootRunId);
      return root === undefined ? undefined : headOf(root);
    },
    load: async (rootRunId, { signal }) => {
      signal.throwIfAborted();
      const root = state.roots.get(rootRunId);
      return root === undefined ? undefined : treeOf(root);
    },
    runs: async ({ signal, ...query }) => {
      signal.throwIfAborted();
      return runsOf(state, query);
    },
    waits: async ({ signal, ...query }) => {
      signal.throwIfAborted();
      return waitsOf(state, query);
    },
    evidence: async (rootRunId, { after, limit, manifestRef, signal }) => {
      signal.throwIfAborted();
      const rows = state.roots.get(rootRunId)?.evidence ?? [];
      return rows
        .filter(({ seq }) => seq > after)
        .filter((row) => manifestRef === undefined || row.manifestRef === manifestRef)
        .slice(0, limit);
    },
    erase: async (rootRunId, evidenceSeqs, { signal }) => {
      signal.throwIfAborted();
      const root = state.roots.get(rootRunId);
      return root === undefined ? 0 : eraseRows(root, evidenceSeqs);
    },
    prune: async ({ signal, ...query }) => {
      signal.throwIfAborted();
      return pruneRoots(state, query);
    },
  };
}

function headOf(root: MemoryRoot): RunHead {
  const { principal, format, head } = root;
  const { fence, lastSeq, prunedThrough } = head;
  return { run: rootRunOf(root), principal, format, fence, lastSeq, prunedThrough };
}

function treeOf(root: MemoryRoot): RunTree | undefined {
  const { input, principal, format, head } = root;
  if (input === undefined) return undefined;
  const lastEvidence = root.evidence.at(-1);
  return {
    runs: [...root.runs.values()],
    principal,
    input,
    calls: [...root.calls.values()],
    waits: [...root.waits.values()],
    messages: [...root.messages],
    ...(lastEvidence === undefined ? {} : { lastEvidence }),
    lastSeq: head.lastSeq,
    openSteps: head.openSteps,
    deliveries: head.deliveries,
    format,
  };
}

function runsOf(state: MemoryState, query: RunQuery): Page<RunState> {
  const { scope, agent, conversationId, status, limit } = query;
  const after = query.after === undefined ? undefined : placeOfCursor(query.after);
  const placeOf = (run: RunState): Place => ({ at: run.statusAt, id: run.runId });
  const runs = [...state.roots.values()]
    .filter(({ principal }) => sees(scope, principal.scope))
    .map(rootRunOf)
    .filter((run) => agent === undefined || run.agent === agent)
    .filter((run) => conversationId === undefined || run.conversationId === conversationId)
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => after === undefined || comparePlaces(placeOf(run), after) < 0)
    .sort((left, right) => comparePlaces(placeOf(right), placeOf(left)));
  return pageOf(runs, { limit, cursorOf: (run) => cursorOf(placeOf(run)) });
}

function waitsOf(state: MemoryState, query: WaitQuery): Page<Wait> {
  const { scope, runId, agent, kind, status, limit } = query;
  const after = query.after === undefined ? undefined : placeOfCursor(query.after);
  const placeOf = (wait: Wait): Place => ({ at: wait.openedAt, id: wait.id });
  const waits = [...state.roots.values()]
    .filter(({ principal }) => sees(scope, principal.scope))
    .flatMap(({ runs, waits }) =>
      [...waits.values()].filter(
        (wait) => agent === undefined || runs.get(wait.runId)?.agent === agent,
      ),
    )
    .filter((wait) => runId === undefined || wait.runId === runId || wait.rootRunId === runId)
    .filter((wait) => kind === undefined || wait.kind === kind)
    .filter((wait) => status === undefined || wait.status === status)
    .filter((wait) => after === undefined || comparePlaces(placeOf(wait), after) > 0)
    .sort((left, right) => comparePlaces(placeOf(left), placeOf(right)))
    .map(shownWait);
  return pageOf(waits, { limit, cursorOf: (wait) => cursorOf(placeOf(wait)) });
}

/** Only what is still there counts: erasing twice is erasing once. */
function eraseRows({ evidence }: MemoryRoot, seqs: readonly number[]): number {
  let erased = 0;
  for (const [index, row] of evidence.entries()) {
    const { payload, salt, ...rest } = row;
    if (!seqs.includes(row.seq) || (payload === undefined && salt === undefined)) continue;
    evidence[index] = Object.freeze(rest);
    erased += 1;
  }
  return erased;
}
