import { inputDigest } from '../approvals/input-digest.ts';
import { approvalQuestion } from '../approvals/plan-approval.ts';
import { restoreMasked } from '../approvals/restore-masked.ts';
import type { AgentError } from '../base/error.ts';
import {
  approvalRejected,
  toolFailed,
  toolInputInvalid,
  toolUnknown,
} from '../base/error-catalog.ts';
import { type CallId, callIdOf } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import { captureResult } from '../tools/capture-result.ts';
import { resultParts } from '../tools/invoke-tool.ts';
import type { Tool } from '../tools/tool.ts';
import type { Part, ToolResultPart } from '../vocabulary/message.ts';
import type { ActiveRun } from './active-run.ts';
import { askInPlace } from './ask-in-place.ts';
import { whyNot } from './authorise-batch.ts';
import { cleanupOf } from './call-cleanup.ts';
import { propose } from './call-ledger.ts';
import { type DecidableCall, decideCall, endsRun } from './decide-call.ts';
import type { Refusal } from './open-call.ts';
import { unknownEffect } from './recover-calls.ts';
import { refusal } from './refusal.ts';
import { withinBudget } from './result-size.ts';
import { runCall } from './run-call.ts';

/**
 * One call of the body: as the loop would run it, but for what the loop alone can wait for.
 *
 * @throws AgentError `APPROVAL_REJECTED`: the call was rejected or denied, and the tool's `onReject` is `'fail'`. Its result is on record; a body that
 *   lets it pass ends the run with it.
 */
export async function runTool(
  run: ActiveRun,
  {
    name,
    input,
    index,
  }: { readonly name: string; readonly input: JsonObject; readonly index: number },
): Promise<ToolResultPart> {
  const callId = callIdOf(`${run.runId}.0.${index}`);
  run.counters.toolCalls += 1;
  const tool = run.catalogue.get(name);
  const result: Result =
    tool === undefined
      ? { ...refusal('error', toolUnknown(name, run.catalogue.names)), value: undefined }
      : await carriedOut(run, { tool, input, callId });
  const part: ToolResultPart = {
    type: 'tool-result',
    callId,
    outcome: result.outcome,
    content: result.content,
  };
  run.toolNames.push(name);
  run.record({
    type: 'tool-call-result',
    messageId: run.nextMessageId(),
    callId,
    toolName: name,
    outcome: part.outcome,
    content: result.shown ?? part.content,
  });
  run.evidence('tool', {
    callId,
    toolName: name,
    outcome: part.outcome,
    ...(tool === undefined ? {} : captureResult(tool.definition, result.value ?? null)),
  });
  if (result.fatal !== undefined) throw result.fatal;
  return part;
}

type Result = {
  readonly outcome: ToolResultPart['outcome'];
  readonly content: readonly Part[];
  /** What sinks see, where it is not what the body reads. */
  readonly shown?: readonly Part[];
  readonly value: JsonValue | undefined;
  /** Thrown into the body when the result is on record. */
  readonly fatal?: AgentError;
};

async function carriedOut(
  run: ActiveRun,
  {
    tool,
    input,
    callId,
  }: {
    readonly tool: Tool;
    readonly input: JsonObject;
    readonly callId: CallId;
  },
): Promise<Result> {
  const checked = whyNot(run, { tool, input, callId });
  if (!checked.ok) return denied(checked.refusal);
  const call = decidable({ tool, input: checked.input, callId, edited: false });
  const decision = await decideCall(run, call);
  if (decision.kind === 'deny') return denied(decision.refusal);
  if (decision.kind === 'allow') return ranHere(run, call);
  const { prompt } = approvalQuestion(tool.definition, call.input);
  const { reason } = decision;
  const { answer, shown } = await askInPlace(run, {
    prompt: reason === undefined ? prompt : { ...prompt, reason },
    input: call.input,
    about: call,
  });
  if (answer.decision === 'approve') return ranHere(run, call);
  if (answer.decision === 'modify') return ranEdited(run, call, { input: answer.input, shown });
  const error = approvalRejected(tool.name, answer.comment);
  const rejected = failure('denied', error);
  return endsRun(run, tool) ? { ...rejected, fatal: error } : rejected;
}

/** Edited arguments are checked and decided about again, as in the loop. */
async function ranEdited(
  run: ActiveRun,
  { tool, callId, input: exact }: DecidableCall,
  given: { readonly input: JsonObject; readonly shown: JsonValue | undefined },
): Promise<Result> {
  const meant = restoreMasked(given.input, { shown: given.shown, exact });
  if (!meant.ok) return failure('error', toolInputInvalid(tool.name, meant.problems));
  const checked = whyNot(run, { tool, input: meant.input, callId });
  if (!checked.ok) return denied(checked.refusal);
  const call = decidable({ tool, input: checked.input, callId, edited: true });
  const decision = await decideCall(run, call);
  return decision.kind === 'deny' ? denied(decision.refusal) : ranHere(run, call);
}

function decidable(call: Omit<DecidableCall, 'inputDigest'>): DecidableCall {
  return { ...call, inputDigest: inputDigest(call.input) };
}

function denied(why: Refusal): Result {
  return { ...why, value: undefined };
}

/** As a started call of the loop: observed, within its time, and in doubt when nobody knows what became of it. */
async function ranHere(
  run: ActiveRun,
  {
    tool,
    input,
    callId,
  }: { readonly tool: Tool; readonly input: JsonObject; readonly callId: CallId },
): Promise<Result> {
  run.learn(input, tool.definition.inputMarks);
  const parsed = { ok: true, payload: input } as const;
  const open = propose(run, {
    callId,
    toolName: tool.name,
    providerCallId: undefined,
    arguments: parsed,
  });
  open.call = { ...open.call, stage: 'started', attempt: 1 };
  const task = cleanupOf(run, open);
  if (task !== undefined) run.cleanups = [...run.cleanups, task];
  const returned = await run.abort.until(
    Promise.resolve(runCall(run, open, run.feed.openSteps[0] as string)),
  );
  // It is back: there is nothing of it left to put in order.
  run.cleanups = run.cleanups.filter((one) => one !== task);
  switch (returned.kind) {
    case 'ok':
      return succeeded(run, tool, returned.value);
    case 'error':
      return failure('error', returned.error);
    case 'suspended':
      return failure('error', toolFailed(tool.name, CANNOT_SUSPEND));
    case 'lost':
      if (open.call.resume === 'retry') return failure('error', returned.error);
      run.unknownEffects = [...run.unknownEffects, callId];
      return failure('interrupted', unknownEffect(open, returned.error));
  }
}

async function succeeded(run: ActiveRun, tool: Tool, value: JsonValue): Promise<Result> {
  const { maxResultBytes, outputMarks } = tool.definition;
  run.learn(value, outputMarks);
  const content = await withinBudget(run, resultParts(value), maxResultBytes);
  const masked = guardValue(value, outputMarks, CONTEXT_EXPOSURE);
  const shown = await withinBudget(run, resultParts(masked), maxResultBytes);
  return { outcome: 'ok', content, shown, value };
}

const CANNOT_SUSPEND =
  'it suspended, which a custom execute cannot wait for: await it inside the tool';

function failure(outcome: ToolResultPart['outcome'], error: AgentError): Result {
  return { ...refusal(outcome, error), value: undefined };
}
