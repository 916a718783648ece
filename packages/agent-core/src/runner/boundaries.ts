import type { JsonObject } from '../base/json.ts';
import type { Call } from '../durable/call.ts';
import type { Wait } from '../vocabulary/wait.ts';
import type { ActiveRun } from './active-run.ts';

/** The name under which the body of a custom `execute` stands on the ledger. */
export const EXECUTE = 'execute';

/** A place where a run can be taken up again: before or after a model call, a tool call or a wait. */
export type Boundary = {
  readonly actionId: string;
  readonly actionKind: 'model-call' | 'tool-call' | 'approval-wait';
  readonly stage: 'before' | 'after';
  readonly idempotency: string;
  readonly metadata?: JsonObject;
};

/** Puts a boundary on record. Part of the loop's public building blocks as `checkpoint`. */
export function boundary(run: ActiveRun, given: Boundary): void {
  if (run.journal === undefined) return;
  run.evidence('action-boundary', boundaryPayload(given));
}

/** A boundary as its row of evidence says it. */
export function boundaryPayload(given: Boundary): JsonObject {
  const { actionId, actionKind, stage, idempotency, metadata } = given;
  return {
    actionId,
    actionKind,
    stage,
    idempotency,
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The row before the next model call: it rides in the commit before that call, once, whoever owns the run by then. */
export function beforeModel(run: ActiveRun): void {
  const { counters } = run;
  if (run.journal === undefined || counters.announced > counters.steps) return;
  counters.announced = counters.steps + 1;
  boundary(run, modelBoundary(run, counters.announced, 'before'));
}

/** The row after the model call that has just been counted. */
export function afterModel(run: ActiveRun): void {
  boundary(run, modelBoundary(run, run.counters.steps, 'after'));
}

/** The run ends with a model call on record that has no answer, or that was not made after all. */
export function closeModel(run: ActiveRun, outcome: string): void {
  const { counters } = run;
  if (run.journal === undefined || counters.announced <= counters.steps) return;
  const { announced } = counters;
  counters.announced = counters.steps;
  boundary(run, { ...modelBoundary(run, announced, 'after'), metadata: { outcome } });
}

function modelBoundary(
  run: ActiveRun,
  step: number,
  stage: Boundary['stage'],
): Omit<Boundary, 'metadata'> {
  return {
    actionId: `${run.runId}.${step}`,
    actionKind: 'model-call',
    stage,
    idempotency: 'idempotent',
  };
}

/** The body of a custom `execute` is one action, whatever it does inside. */
export function bodyBoundary(
  { callId, attempt }: Pick<Call, 'callId' | 'attempt'>,
  stage: Boundary['stage'],
): Boundary {
  return {
    actionId: callId,
    actionKind: 'tool-call',
    stage,
    idempotency: 'unknown',
    metadata: { toolName: EXECUTE, attempt },
  };
}

/** The row after a wait, however it was closed: answered and used, expired, or void. */
export function afterWait(run: ActiveRun, { id, status }: Pick<Wait, 'id' | 'status'>): void {
  boundary(run, {
    actionId: id,
    actionKind: 'approval-wait',
    stage: 'after',
    idempotency: 'non-idempotent',
    metadata: { status },
  });
}
