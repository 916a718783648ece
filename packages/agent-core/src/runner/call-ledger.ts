import type { Grant } from '../approvals/grant.ts';
import { idempotencyKey } from '../approvals/idempotency-key.ts';
import { inputDigest } from '../approvals/input-digest.ts';
import { waitIdOf } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Call, CallStage } from '../durable/call.ts';
import type { Tool } from '../tools/tool.ts';
import { DECISIONS_OF, type Wait, type WaitKind, type WaitRecord } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';
import { afterWait, boundary } from './boundaries.ts';
import type { AskedCall } from './model-answer.ts';
import { newOpenCall, type OpenCall } from './open-call.ts';
import type { RunJournal } from './run-journal.ts';

/** A call that the model has asked for, on the ledger as `proposed`. */
export function propose(run: ActiveRun, asked: AskedCall): OpenCall {
  const tool = run.catalogue.get(asked.toolName);
  const input = asked.arguments.ok ? asked.arguments.payload : {};
  return newOpenCall(proposedCall(run, { asked, input, tool }), { input, tool });
}

function proposedCall(
  run: ActiveRun,
  {
    asked,
    input,
    tool,
  }: { readonly asked: AskedCall; readonly input: JsonObject; readonly tool: Tool | undefined },
): Call {
  // A stateless run has no ledger: digest and key would be computed for nobody.
  const digest = run.journal === undefined ? '' : inputDigest(input);
  return {
    callId: asked.callId,
    runId: run.runId,
    step: run.counters.steps,
    toolName: asked.toolName,
    stage: 'proposed',
    input: { plain: input },
    inputDigest: digest,
    idempotencyKey:
      run.journal === undefined
        ? asked.callId
        : idempotencyKey({ rootRunId: run.runId, callId: asked.callId, inputDigest: digest }),
    resume: tool?.definition.resume ?? 'ask',
    attempt: 0,
  };
}

/** The call under other arguments: validated before, bound to a new digest and a new key. */
export function edit(run: ActiveRun, open: OpenCall, input: JsonObject): void {
  open.input = input;
  open.unfit = undefined;
  // A stateless run has no ledger: nobody compares.
  if (run.journal === undefined) return;
  const digest = inputDigest(input);
  open.call = {
    ...open.call,
    input: { plain: input },
    inputDigest: digest,
    idempotencyKey: idempotencyKey({
      rootRunId: run.runId,
      callId: open.call.callId,
      inputDigest: digest,
    }),
  };
}

export function stage(run: ActiveRun, open: OpenCall, next: CallStage): void {
  open.call = { ...open.call, stage: next };
  run.journal?.call(open.call);
}

/** Marks a call `started`: the mark is stored before the effect is dispatched. */
export function markStarted(run: ActiveRun, open: OpenCall): void {
  if (run.journal === undefined) {
    open.call = { ...open.call, stage: 'started', attempt: 1 };
    return;
  }
  useAnswer(run, open);
  const { call } = open;
  open.call = {
    ...call,
    stage: 'started',
    attempt: call.attempt + 1,
    startedFence: run.journal.lease.fence,
  };
  run.journal?.call(open.call);
  boundary(run, {
    actionId: call.callId,
    actionKind: 'tool-call',
    stage: 'before',
    idempotency: (open.tool as Tool).definition.idempotency,
    metadata: {
      toolName: call.toolName,
      attempt: open.call.attempt,
      inputDigest: call.inputDigest,
    },
  });
}

/** `resolved → used`, in the very commit that acts on the answer. */
export function useAnswer(run: ActiveRun, open: OpenCall): void {
  const { wait, answer, remembered } = open;
  if (wait === undefined || wait.status !== 'resolved' || answer === undefined) return;
  if (remembered !== undefined) run.journal?.value(remembered.write);
  run.journal?.moves({ id: wait.id, from: ['resolved'], to: 'used' });
  open.wait = { ...wait, status: 'used' };
  run.record({ type: 'wait-closed', wait: shownWait(open.wait) });
  run.evidence('approval', {
    waitId: wait.id,
    kind: wait.kind,
    decision: answer.decision,
    digest: wait.digest,
    by: wait.resolvedBy as string,
    ...(answer.comment === undefined ? {} : { comment: answer.comment }),
    // What runs after an edit is bound to other arguments than the ones that were asked about.
    ...(answer.decision === 'modify' ? { ranWith: open.call.inputDigest } : {}),
    ...(remembered === undefined ? {} : { remembered: grantEvidence(remembered.grant) }),
  });
  afterWait(run, open.wait);
}

export type WaitRequest = {
  readonly kind: WaitKind;
  readonly prompt: JsonObject;
  readonly allowed?: Wait['allowed'];
  readonly ttlMs?: number;
  readonly onExpiry?: Wait['onExpiry'];
  readonly carry?: JsonValue;
};

/** Opens the next wait of a call. A wait row is never used again: a second question is a second row. */
export function openWait(run: ActiveRun, open: OpenCall, request: WaitRequest): void {
  open.waits += 1;
  const { call } = open;
  // Nobody keeps a question for a stateless run, so none is opened for it.
  const journal = run.journal as RunJournal;
  const now = journal.storeNow;
  const prompt = run.guard?.json(request.prompt) ?? request.prompt;
  const record: WaitRecord = {
    id: waitIdOf(`${call.callId}.w${open.waits}`),
    runId: run.runId,
    rootRunId: run.runId,
    callId: call.callId,
    kind: request.kind,
    status: 'pending',
    digest: call.inputDigest,
    prompt,
    allowed: request.allowed ?? DECISIONS_OF[request.kind],
    openedAt: now,
    onExpiry: request.onExpiry ?? 'reject',
    ...(request.ttlMs === undefined ? {} : { expiresAt: now + request.ttlMs }),
  };
  open.answer = undefined;
  open.wait = record;
  const { expiresAt: _estimated, ...opening } = record;
  journal.opens(request.ttlMs === undefined ? opening : { ...opening, ttlMs: request.ttlMs });
  run.record({ type: 'wait-opened', wait: record });
  boundary(run, {
    actionId: record.id,
    actionKind: 'approval-wait',
    stage: 'before',
    idempotency: 'non-idempotent',
    metadata: { kind: request.kind, toolName: call.toolName, inputDigest: call.inputDigest },
  });
}

/** A grant as evidence names it. */
export function grantEvidence({ id, what, within, grantedBy, waitId }: Grant): JsonObject {
  return { id, what, within, grantedBy, waitId };
}

/** A wait as it is shown: without its answer. */
export function shownWait(record: WaitRecord): Wait {
  const { resolution: _resolution, ...wait } = record;
  return wait;
}
