import type { JsonObject, JsonValue } from '../base/json.ts';
import type { CallStage } from '../durable/call.ts';
import { captureResult } from '../tools/capture-result.ts';
import type { Message, Part, ToolResultPart } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';
import { boundary } from './boundaries.ts';
import { useAnswer } from './call-ledger.ts';
import type { OpenCall } from './open-call.ts';

export type Settlement = {
  readonly outcome: ToolResultPart['outcome'];
  readonly content: readonly Part[];
  /** What sinks see, where it is not what the model reads: marked fields masked by their place. */
  readonly shown?: readonly Part[];
  readonly stage: Extract<CallStage, 'committed' | 'failed' | 'denied' | 'interrupted' | 'unknown'>;
  /** The tool's own value, for its evidence; absent when the tool did not give one. */
  readonly value?: JsonValue;
  /** True when the tool itself gave this result: progress (DURABILITY rule 11). */
  readonly own: boolean;
};

/** A call has its one result: on the ledger, in the messages, in the events and in evidence, with the next commit. */
export function recordResult(run: ActiveRun, open: OpenCall, settlement: Settlement): void {
  const { outcome, content, shown = content, stage, value, own } = settlement;
  const { call, tool } = open;
  useAnswer(run, open);
  if (value !== undefined && tool !== undefined) run.learn(value, tool.definition.outputMarks);
  open.result = { type: 'tool-result', callId: call.callId, outcome, content };
  open.settled = true;
  open.running = false;
  open.carry = undefined;
  if (stage === 'unknown') run.unknownEffects = [...run.unknownEffects, call.callId];
  const { journal } = run;
  const messageId = run.nextMessageId();
  run.counters.messages += 1;
  run.record({
    type: 'tool-call-result',
    messageId,
    callId: call.callId,
    toolName: call.toolName,
    outcome,
    content: shown,
  });
  if (journal === undefined) return;
  const { carry: _carry, ...kept } = call;
  open.call = { ...kept, stage };
  journal.call(open.call);
  journal.message({
    runId: run.runId,
    seq: run.counters.messages,
    message: resultMessage(open.result),
  });
  if (own) journal.progressed();
  const { attempt } = call;
  run.evidence('tool', {
    callId: call.callId,
    toolName: call.toolName,
    outcome,
    stage,
    ...(attempt > 0 ? { attempt } : { ran: tool?.runs === 'client' && own ? 'client' : false }),
    ...captured(open, settlement),
  });
  // Every started call has a row before each of its attempts, and this one behind the last.
  if (attempt === 0) return;
  boundary(run, {
    actionId: call.callId,
    actionKind: 'tool-call',
    stage: 'after',
    idempotency: tool?.definition.idempotency ?? 'unknown',
    metadata: { toolName: call.toolName, outcome },
  });
}

/** What the tool wants to be kept of its result; nothing where it gave none, or where nobody knows the tool any more. */
function captured({ call, tool }: OpenCall, { value, content, own }: Settlement): JsonObject {
  if (tool === undefined) return {};
  if (tool.runs === 'client')
    return own ? captureResult(tool.definition, content as unknown as JsonValue) : {};
  return call.attempt > 0 ? captureResult(tool.definition, value ?? null) : {};
}

export function resultMessage(result: ToolResultPart): Message {
  return { role: 'tool', origin: 'tool', parts: [result] };
}

/** The batch is complete: its results go to the model in call order. */
export function closeBatch(run: ActiveRun): void {
  for (const { result } of run.batch) run.messages.push(resultMessage(result as ToolResultPart));
  run.batch = [];
}
