import type { RunId } from '../base/ids.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import type { RunTree } from '../durable/run-records.ts';
import { EVENT_CLASSES } from '../events/agent-event.ts';
import type { Envelope } from '../events/envelope.ts';
import { shownWait } from '../runner/call-ledger.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Wait } from '../vocabulary/wait.ts';
import { checkCaller, headFor } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { asTakenUp, shownState } from './shown-state.ts';
import { type LedgerCall, runIn, type ShownMessage, shownTree } from './shown-tree.ts';

/** Rows of one read of the log. */
const PAGE = 200;

/**
 * A run as it is now: what a reader starts from when the events behind its cursor are no longer kept. It replaces whatever the
 * reader has; events above `lastSeq` go on from it.
 */
export type RunSnapshot = {
  readonly run: RunState;
  /** The cursor that goes with it. */
  readonly lastSeq: number;
  /** Events up to this number are no longer kept; 0 when all are. */
  readonly prunedThrough: number;
  /** Claims since the last progress. */
  readonly deliveries: number;
  /** The messages of this run, from the one that started it on; empty once only its evidence is kept. */
  readonly messages: readonly ShownMessage[];
  /** The ledger, in the order in which the calls were asked for. */
  readonly calls: readonly LedgerCall[];
  /** The questions that are open, about calls and about the run itself. */
  readonly waits: readonly Wait[];
  /** Live events of steps that are open and not taken back, texts joined: what is stored of what is happening. */
  readonly open: readonly Envelope[];
};

/** Everything of one moment: the tree and its `lastSeq` are read together, and of an open step nothing is ever removed. */
export async function snapshotOf(
  parts: GatewayParts,
  runId: RunId,
  caller: Caller,
): Promise<RunSnapshot> {
  checkCaller(caller);
  const { run, store, fence, lastSeq, prunedThrough } = await headFor(parts, runId, caller);
  const tree = await store.records.load(run.rootRunId, { signal: caller.signal });
  if (tree === undefined) {
    const nothing = { deliveries: 0, messages: [], calls: [], waits: [], open: [] };
    const shown = await shownState(parts, run, { store, signal: caller.signal });
    return { run: shown, lastSeq, prunedThrough, ...nothing };
  }
  const { runs, ...shown } = await shownTree(parts, tree);
  return {
    run: asTakenUp(parts, runIn(runs, run), fence),
    lastSeq: tree.lastSeq,
    prunedThrough,
    deliveries: tree.deliveries,
    ...shown,
    waits: tree.waits.filter(({ status }) => status === 'pending').map(shownWait),
    open: await openEvents(store, { tree, after: prunedThrough, signal: caller.signal }),
  };
}

/** The ledger of a run; empty once only its evidence is kept. */
export async function callsOf(
  parts: GatewayParts,
  runId: RunId,
  caller: Caller,
): Promise<readonly LedgerCall[]> {
  checkCaller(caller);
  const { run, store } = await headFor(parts, runId, caller);
  const tree = await store.records.load(run.rootRunId, { signal: caller.signal });
  return tree === undefined ? [] : (await shownTree(parts, tree)).calls;
}

/** Reads the log up to the moment of the tree and keeps what belongs to its open steps. */
async function openEvents(
  { log }: DurableStore,
  {
    tree,
    after,
    signal,
  }: { readonly tree: RunTree; readonly after: number; readonly signal: AbortSignal },
): Promise<readonly Envelope[]> {
  const [root] = tree.runs;
  if (root === undefined || tree.openSteps.length === 0) return [];
  let open: readonly Envelope[] = [];
  for (let cursor = after; cursor < tree.lastSeq; ) {
    const rows = await log.read(root.rootRunId, { after: cursor, limit: PAGE, signal });
    for (const { firstSeq: _first, lastSeq: seq, ends: _ends, ...row } of rows) {
      if (seq > tree.lastSeq) break;
      open = withEvent(open, { tree, envelope: { rootRunId: root.rootRunId, ...row, seq } });
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    cursor = last.lastSeq;
  }
  return open;
}

function withEvent(
  open: readonly Envelope[],
  { tree, envelope }: { readonly tree: RunTree; readonly envelope: Envelope },
): readonly Envelope[] {
  const { event, stepId } = envelope;
  if (event.type === 'rewound') {
    const { steps, after = Number.POSITIVE_INFINITY } = event;
    return open.filter(
      (earlier) => !steps.some((step) => step === earlier.stepId) && earlier.seq <= after,
    );
  }
  const isOpen = stepId !== undefined && tree.openSteps.includes(stepId);
  return isOpen && EVENT_CLASSES[event.type] === 'live' ? [...open, envelope] : open;
}
