import type { JsonObject } from '../base/json.ts';
import type { ActiveRun } from './active-run.ts';

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
  const { actionId, actionKind, stage, idempotency, metadata } = given;
  run.evidence('action-boundary', {
    actionId,
    actionKind,
    stage,
    idempotency,
    ...(metadata === undefined ? {} : { metadata }),
  });
}

/** The row before the next model call: it rides in the commit before that call. */
export function beforeModel(run: ActiveRun): void {
  if (run.journal === undefined) return;
  boundary(run, {
    actionId: `${run.runId}.${run.counters.steps + 1}`,
    actionKind: 'model-call',
    stage: 'before',
    idempotency: 'idempotent',
  });
}
