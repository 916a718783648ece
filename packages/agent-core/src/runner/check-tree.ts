import { recordCorrupt } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { CALL_STAGES, type Call } from '../durable/call.ts';
import type { RunTree } from '../durable/run-records.ts';
import { MESSAGE_ROLES, type Message } from '../vocabulary/message.ts';
import { RUN_STATUSES, type RunState } from '../vocabulary/state.ts';
import { WAIT_KINDS, WAIT_STATUSES, type WaitRecord } from '../vocabulary/wait.ts';

/**
 * Refuses what no owner can have written, before anything of it is gone on from: rows that are missing, that
 * are not of their kind, or that belong to nothing. What is merely unknown to this version is the business of `upcast`.
 *
 * @throws AgentError `RECORD_CORRUPT` naming the row. Nothing was changed.
 */
export function checkTree(tree: RunTree, row: RunState): void {
  const seen =
    rowProblem(row) ??
    inputProblem(tree) ??
    messagesProblem(tree, row) ??
    first(tree.calls, callProblem) ??
    first(tree.waits, (wait) => waitProblem(wait, tree.calls)) ??
    evidenceProblem(tree, row);
  if (seen !== undefined) throw recordCorrupt(row.runId, seen);
}

/**
 * Refuses messages that are none, and calls that no answer asked for: a provider would refuse them for ever.
 *
 * @throws AgentError `RECORD_CORRUPT`.
 */
export function checkMessages(
  messages: readonly Message[],
  { row, calls }: { readonly row: RunState; readonly calls: readonly Call[] },
): void {
  const broken = messages.findIndex(isNoMessage);
  if (broken !== -1) throw recordCorrupt(row.runId, `its message ${broken + 1} is no message`);
  const asked = new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : [])),
    ),
  );
  const stray = calls.find(({ callId, step }) => step > 0 && !asked.has(callId));
  if (stray !== undefined)
    throw recordCorrupt(row.runId, `no message asks for its call ${stray.callId}`);
}

function isNoMessage(message: Message): boolean {
  const { role, parts }: Partial<Message> = isJsonObject(message) ? message : {};
  return (
    role === undefined ||
    !MESSAGE_ROLES.includes(role) ||
    !Array.isArray(parts) ||
    !parts.every((part: unknown) => isJsonObject(part) && typeof part['type'] === 'string')
  );
}

function rowProblem({ status, counters, metadata, shared, agent }: RunState): string | undefined {
  if (!RUN_STATUSES.includes(status)) return `its status is ${JSON.stringify(status)}`;
  if (![counters, metadata, shared].every(isJsonObject) || typeof agent !== 'string')
    return 'its run row lacks what every run row has';
  return undefined;
}

function inputProblem({ input }: RunTree): string | undefined {
  return isKept(input) ? undefined : 'its input is neither plain nor sealed';
}

/** Numbered from 1 without a gap; the row counts them in the commit that writes them. */
function messagesProblem({ messages }: RunTree, { runId, counters }: RunState): string | undefined {
  const own = messages.filter((message) => message.runId === runId);
  const odd = own.find(({ message }) => !isKept(message));
  if (odd !== undefined) return `its message ${odd.seq} is neither plain nor sealed`;
  const { messages: count } = counters;
  const numbers = new Set(own.map(({ seq }) => seq));
  for (let seq = 1; typeof count === 'number' && seq <= count; seq += 1)
    if (!numbers.has(seq)) return `its message ${seq} of ${count} is missing`;
  return undefined;
}

function callProblem({ callId, stage, step, attempt, toolName, input }: Call): string | undefined {
  const fits =
    CALL_STAGES.includes(stage) &&
    Number.isSafeInteger(step) &&
    Number.isSafeInteger(attempt) &&
    typeof toolName === 'string' &&
    isKept(input);
  return fits ? undefined : `its call ${callId} is no call`;
}

function waitProblem(wait: WaitRecord, calls: readonly Call[]): string | undefined {
  const { id, callId, kind, status, resolution } = wait;
  if (!WAIT_KINDS.includes(kind) || !WAIT_STATUSES.includes(status))
    return `its wait ${id} is none`;
  if (callId !== undefined && !calls.some((call) => call.callId === callId))
    return `its wait ${id} belongs to the call ${callId}, which is missing`;
  if (status === 'resolved' && !isKept(resolution)) return `its wait ${id} has lost its answer`;
  return undefined;
}

/** The row counts its evidence: a chain that was cut at its end would verify. */
function evidenceProblem(
  { lastEvidence }: RunTree,
  { counters: { evidence: count } }: RunState,
): string | undefined {
  const last = lastEvidence?.seq ?? 0;
  if (typeof count !== 'number' || count === last) return undefined;
  return `its evidence ends with row ${last}, and it has ${count} rows`;
}

function isKept(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value['plain'] !== undefined || typeof value['sealed'] === 'string';
}

function first<T>(
  items: readonly T[],
  problem: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const seen = problem(item);
    if (seen !== undefined) return seen;
  }
  return undefined;
}
