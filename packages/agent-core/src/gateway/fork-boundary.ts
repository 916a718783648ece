import { forkNotSettled, forkStateUnknown } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { EventLog } from '../durable/event-log.ts';
import type { RunTree } from '../durable/run-records.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import { FINISH_REASONS } from '../model/agent-model.ts';
import { patched } from '../runner/shared-state.ts';
import type { Message } from '../vocabulary/message.ts';
import type { RunState } from '../vocabulary/state.ts';

const PAGE = 200;

/** Where a run can be forked: behind the end of a step that left nothing open. */
export type ForkBoundary = {
  readonly seq: number;
  /** How many answers of the model there were by then. */
  readonly answers: number;
  /** The last row of evidence that its owner had shown by then; 0 when the log does not say any more. */
  readonly evidenceSeq: number;
};

/** What the log of a run tells about its steps; events in their order. */
export type ForkLog = readonly { readonly seq: number; readonly event: AgentEvent }[];

const TOLD: readonly AgentEvent['type'][] = [
  'step-finished',
  'tool-call-result',
  'evidence-recorded',
  'state-snapshot',
  'state-delta',
];

/** Reads the log of a run as far as its tree was read, and keeps what a fork looks at. */
export async function forkLogOf(
  log: EventLog,
  {
    rootRunId,
    lastSeq,
    signal,
  }: { readonly rootRunId: RunId; readonly lastSeq: number; readonly signal: AbortSignal },
): Promise<ForkLog> {
  const told: { seq: number; event: AgentEvent }[] = [];
  for (let after = 0; after < lastSeq; ) {
    const rows = await log.read(rootRunId, { after, limit: PAGE, signal });
    const last = rows.at(-1);
    if (last === undefined) break;
    for (const { lastSeq: seq, event } of rows)
      if (seq <= lastSeq && TOLD.includes(event.type)) told.push({ seq, event });
    after = last.lastSeq;
  }
  return told;
}

/**
 * The boundary at a number: the last end of a step at or below it.
 *
 * @throws AgentError `FORK_NOT_SETTLED` when there is none, or when a call of that step had no result yet or may have taken
 * effect; it names the nearest boundary.
 */
export function forkBoundary(
  {
    tree,
    answers,
    log,
  }: {
    readonly tree: RunTree;
    /** The model's answers that are stored, oldest first. */
    readonly answers: readonly Message[];
    readonly log: ForkLog;
  },
  { runId, atSeq }: { readonly runId: RunId; readonly atSeq: number },
): ForkBoundary {
  const ends = log.filter(({ event }) => event.type === 'step-finished');
  const isDoubtful = new Set(
    tree.calls
      .filter(({ stage, step }) => step > 0 && (stage === 'started' || stage === 'unknown'))
      .map(({ callId }) => String(callId)),
  );
  const boundaryAt = (seq: number): ForkBoundary | undefined => {
    const later = ends.filter((end) => end.seq > seq && isAnswer(end.event)).length;
    const count = answers.length - later;
    const last = answers[count - 1];
    if (last === undefined) return undefined;
    const calls = answers
      .slice(0, count)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [part] : [])));
    if (calls.some(({ callId }) => isDoubtful.has(callId))) return undefined;
    const open = last.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []));
    const before = log.filter((told) => told.seq <= seq);
    const hasResult = (callId: string): boolean =>
      before.some(({ event }) => event.type === 'tool-call-result' && event.callId === callId);
    if (!open.every(hasResult)) return undefined;
    return { seq, answers: count, evidenceSeq: lastEvidence(before) };
  };
  const wanted = ends.findLast(({ seq }) => seq <= atSeq);
  const found = wanted === undefined ? undefined : boundaryAt(wanted.seq);
  if (found !== undefined) return found;
  const settled = ends.flatMap(({ seq }) => boundaryAt(seq) ?? []);
  const nearest =
    settled.findLast(({ seq }) => seq <= atSeq) ?? settled.find(({ seq }) => seq > atSeq);
  throw forkNotSettled(runId, { atSeq, nearest: nearest?.seq });
}

/** The end of a step in which the model answered; tools, signals and hooks end theirs with other words. */
function isAnswer(event: AgentEvent): boolean {
  const { finish } = event as EventOf<'step-finished'>;
  return finish === 'output-rejected' || (FINISH_REASONS as readonly string[]).includes(finish);
}

function lastEvidence(before: ForkLog): number {
  const rows = before.flatMap(({ event }) =>
    event.type === 'evidence-recorded' ? [event.evidenceSeq] : [],
  );
  return rows.at(-1) ?? 0;
}

/**
 * The shared state as it was at a boundary: the one of now while nothing has changed it since, else put together again from
 * the log, in which marked values are masked.
 *
 * @throws AgentError `FORK_STATE_UNKNOWN` when the log does not reach back that far.
 */
export function stateAt(
  {
    run,
    log,
    prunedThrough,
  }: {
    readonly run: RunState;
    readonly log: ForkLog;
    readonly prunedThrough: number;
  },
  { seq }: ForkBoundary,
): JsonObject {
  const changes = log.filter(
    ({ event }) => event.type === 'state-snapshot' || event.type === 'state-delta',
  );
  if (changes.every((change) => change.seq <= seq)) return run.shared;
  if (prunedThrough > 0) throw forkStateUnknown(run.runId, seq);
  let state: JsonObject = {};
  for (const change of changes) {
    if (change.seq > seq) break;
    if (change.event.type === 'state-snapshot') state = change.event.snapshot as JsonObject;
    if (change.event.type === 'state-delta') state = patched(state, change.event.patch);
  }
  return state;
}
