import {
  EVENT_CLASSES,
  isJsonObject,
  isTerminal,
  type RunId,
  verifyEvidence,
} from '@hexagent/agent-core';
import { ENTRIES, type ToolKind } from '../child/order.ts';
import { readersIn, type Seen, seenBy } from '../child/reader.ts';
import { effectsIn, requestsIn } from '../child/receiver.ts';
import type { Cell } from './cell.ts';
import { type RunRecord, readRecord } from './record.ts';

/** What must hold of a case when its run is over; what is not named is as in an undisturbed run. */
export type Expected = {
  /** Questions whether an effect happened, of a tool that nobody can ask. Default 0. */
  readonly doubts?: number;
  /** Questions about the run itself. Default 0. */
  readonly questions?: number;
  /** How the run ended. Default `completed`. */
  readonly status?: 'completed' | 'cancelled' | 'failed';
  /** What was written, in order. Default: both entries. */
  readonly effects?: readonly string[];
  /** What the final text has beside the undisturbed run's. Default: nothing. */
  readonly adds?: string;
  /** Calls that a person refused: the answer is another one then. Default 0. */
  readonly denied?: number;
  /** What came of each cleanup. Default: there was none. */
  readonly cleanups?: readonly ('succeeded' | 'skipped')[];
  /** Questions that nobody answered in time. Default 0. */
  readonly expired?: number;
};

/** What an undisturbed run comes to. */
export type Undisturbed = { readonly text: string; readonly conversation: string };

/** Everything that is wrong with the run of a case. */
export async function faultsOf(
  cell: Cell,
  runId: RunId,
  {
    expected,
    undisturbed,
    keyIgnored,
  }: {
    readonly expected: Expected;
    readonly undisturbed: Undisturbed | undefined;
    readonly keyIgnored: boolean;
  },
): Promise<readonly string[]> {
  const record = await readRecord(cell.url, runId);
  const { status = 'completed' } = expected;
  return [
    ...endFaults(record, status),
    ...(status === 'completed' ? answerFaults(record, expected, undisturbed) : []),
    ...effectFaults(cell, { expected, keyIgnored }),
    ...callFaults(record, cell.tool),
    ...waitFaults(record, expected),
    ...evidenceFaults(record),
    ...cleanupFaults(record, cell.folder, expected),
    ...readersIn(cell.folder).flatMap((reader) =>
      readerFaults(record, seenBy(reader, cell.folder)).map((fault) => `${reader}: ${fault}`),
    ),
  ];
}

export async function conversationOf(cell: Cell, runId: RunId): Promise<Undisturbed> {
  const record = await readRecord(cell.url, runId);
  return { text: textOf(record), conversation: conversation(record) };
}

function endFaults({ tree, events }: RunRecord, status: string): readonly string[] {
  const ends = events.filter(({ type }) => type === 'run-finished').length;
  const starts = events.filter(({ type }) => type === 'run-started').length;
  const is = tree.runs[0]?.status ?? 'missing';
  return [
    ...(is === status ? [] : [`the run is ${is} and not ${status}: ${whyOf(events)}`]),
    ...(ends === 1 ? [] : [`the log has ${ends} ends`]),
    ...(starts === 1 ? [] : [`the log has ${starts} starts`]),
    ...(events.at(-1)?.type === 'run-finished' ? [] : ['the log does not end with the end']),
    ...(tree.runs.every((run) => isTerminal(run.status)) ? [] : ['a run of the tree is open']),
  ];
}

const whyOf = (events: RunRecord['events']): string => {
  const end = events.findLast(({ type }) => type === 'run-finished');
  return end?.type === 'run-finished' ? JSON.stringify(end.outcome) : 'it has no end';
};

function answerFaults(
  record: RunRecord,
  { adds, denied = 0 }: Expected,
  undisturbed: Undisturbed | undefined,
): readonly string[] {
  if (undisturbed === undefined || denied > 0) return [];
  const is = textOf(record);
  const should = `${undisturbed.text}${adds ?? ''}`;
  if (is !== should) return [`the answer is "${is}", and should be "${should}"`];
  if (adds !== undefined || conversation(record) === undisturbed.conversation) return [];
  return [
    `the model has read ${conversation(record)}, and undisturbed ${undisturbed.conversation}`,
  ];
}

function textOf({ events }: RunRecord): string {
  const end = events.findLast(({ type }) => type === 'run-finished');
  if (end?.type !== 'run-finished' || end.outcome.kind !== 'completed') return '';
  return end.outcome.text;
}

/** The messages of a run, without what differs from run to run. */
function conversation({ tree }: RunRecord): string {
  const runId = tree.runs[0]?.rootRunId ?? '';
  const messages = [...tree.messages].sort((left, right) => left.seq - right.seq);
  return JSON.stringify(messages.map(({ message }) => message)).replaceAll(runId, 'r');
}

function effectFaults(
  { folder, tool }: Cell,
  { expected, keyIgnored }: { readonly expected: Expected; readonly keyIgnored: boolean },
): readonly string[] {
  const should = tool === 'read-only' ? [] : (expected.effects ?? ENTRIES);
  const is = effectsIn(folder, { tool, keyIgnored }).map(({ entry }) => entry);
  const faults = is.join() === should.join() ? [] : [`written was ${is}, and not ${should}`];
  const keys = new Map(requestsIn(folder).map(({ callId, key }) => [`${callId}/${key}`, callId]));
  const several = new Set(keys.values()).size !== keys.size;
  return several ? [...faults, 'a call has had two idempotency keys'] : faults;
}

/** No call of a finished run is open on the ledger, and every one has one result. */
function callFaults({ tree, events }: RunRecord, tool: ToolKind): readonly string[] {
  const open = ['proposed', 'authorised', 'started', 'suspended'];
  const faults = tree.calls
    .filter(
      ({ stage, resume }) => open.includes(stage) || (stage === 'unknown' && resume === 'retry'),
    )
    .map(({ callId, stage }) => `${callId} is ${stage} at the end (${tool})`);
  const results = events.flatMap((event) =>
    event.type === 'tool-call-result' ? [event.callId] : [],
  );
  return results.length === new Set(results).size
    ? faults
    : [...faults, `a call has two results: ${results}`];
}

/** Every question is asked once, and every answer is used; what was asked when the run was cancelled is void. */
function waitFaults({ tree }: RunRecord, expected: Expected): readonly string[] {
  const { doubts = 0, questions = 0, status = 'completed' } = expected;
  const settled = ['used', 'expired', ...(status === 'completed' ? [] : ['void'])];
  const faults = tree.waits
    .filter((wait) => !settled.includes(wait.status))
    .map(({ id, kind, status: is }) => `the ${kind} ${id} is ${is} at the end`);
  const late = tree.waits.filter((wait) => wait.status === 'expired').length;
  if (late !== (expected.expired ?? 0)) faults.push(`${late} questions have expired`);
  const asked = tree.waits.filter(({ kind }) => kind === 'approval');
  const ofCalls = new Set(asked.map(({ callId }) => callId));
  if (asked.length > ofCalls.size)
    faults.push(`approval was asked ${asked.length} times for ${ofCalls.size} calls`);
  const ofEffects = tree.waits.filter(({ kind, callId }) => kind === 'recovery' && callId);
  if (ofEffects.length !== doubts)
    faults.push(`a person was asked ${ofEffects.length} times what happened, and not ${doubts}`);
  const ofRun = tree.waits.filter(({ kind, callId }) => kind === 'recovery' && !callId);
  if (ofRun.length !== questions)
    faults.push(`a person was asked ${ofRun.length} times about the run, and not ${questions}`);
  return faults;
}

function evidenceFaults({ evidence, tree }: RunRecord): readonly string[] {
  const fault = verifyEvidence(evidence);
  const faults = fault === undefined ? [] : [`the evidence fails: ${JSON.stringify(fault)}`];
  if (evidence.length === 0) faults.push('there is no evidence');
  if (evidence.some(({ seq }, index) => seq !== index + 1)) faults.push('evidence is missing');
  for (const { id, decision, status } of tree.waits) {
    if (status !== 'used') continue;
    const rows = evidence.filter(
      ({ kind, payload }) =>
        kind === 'approval' && payload?.['waitId'] === id && payload['decision'] === decision,
    );
    if (rows.length !== 1)
      faults.push(`the evidence names the decision about ${id} ${rows.length} times`);
  }
  return faults;
}

/** A cleanup that succeeded has been at the other side once, and the evidence says what came of each. */
function cleanupFaults(
  { evidence }: RunRecord,
  folder: string,
  { cleanups = [] }: Expected,
): readonly string[] {
  const done = requestsIn(folder).filter(({ what }) => what === 'cleanup').length;
  const should = cleanups.filter((each) => each === 'succeeded').length;
  const faults = done === should ? [] : [`there were ${done} cleanups, and not ${should}`];
  const outcomes = evidence.flatMap(({ kind, payload }) =>
    kind === 'cancellation' ? [payload?.['outcomes']] : [],
  );
  const is = outcomes.flat().map((each) => (isJsonObject(each) ? each['status'] : each));
  return is.join() === cleanups.join()
    ? faults
    : [...faults, `evidence says of the cleanups: ${is}, and not ${cleanups}`];
}

/** Every event that is not rewound is seen exactly once, and nothing that is not in the log. */
function readerFaults({ log }: RunRecord, seen: readonly Seen[]): readonly string[] {
  const faults: string[] = [];
  const numbers = seen.map(({ seq }) => seq);
  if (numbers.some((seq, index) => seq <= (numbers[index - 1] ?? 0)))
    faults.push('it has seen a number twice, or out of order');
  const stored = log.map(({ seq }) => seq);
  if (stored.some((seq, index) => seq <= (stored[index - 1] ?? 0)))
    faults.push('the log has a number twice, or out of order');
  const left = standing(seen);
  const should = standing(log);
  const missing = should.filter(({ seq }) => !left.some((each) => each.seq === seq));
  const surplus = left.filter(({ seq }) => !should.some((each) => each.seq === seq));
  if (missing.length > 0) faults.push(`it has not seen ${shown(missing)}`);
  if (surplus.length > 0) faults.push(`it has seen what is not stored: ${shown(surplus)}`);
  return faults;
}

const shown = (events: readonly Seen[]): string =>
  events.map(({ seq, type }) => `${type} ${seq}`).join(', ');

/** What is left when everything that was taken back is gone. */
function standing(events: readonly Seen[]): readonly Seen[] {
  const voided = (event: Seen, rewound: Seen): boolean => {
    if (event.seq >= rewound.seq || !LIVE.has(event.type)) return false;
    if (event.stepId !== undefined && rewound.steps?.includes(event.stepId)) return true;
    return rewound.after !== undefined && event.seq > rewound.after;
  };
  const rewinds = events.filter(({ type }) => type === 'rewound');
  return events.filter((event) => !rewinds.some((rewound) => voided(event, rewound)));
}

/** What may be taken back: events of an open step, and marks. */
const LIVE: ReadonlySet<string> = new Set(
  Object.entries(EVENT_CLASSES).flatMap(([type, kind]) =>
    kind === 'committed-first' ? [] : [type],
  ),
);
