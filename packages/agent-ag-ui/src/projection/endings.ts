import { type AGUIEvent, EventType, type Interrupt, type TokenUsage } from '@ag-ui/core';
import type {
  EventOf,
  JsonValue,
  RunId,
  RunSnapshot,
  RunState,
  Usage,
  Wait,
} from '@hexagent/agent-core';
import { holdInterrupt, interruptOf, isFrontendCall } from './interrupts.ts';
import { type ToldError, toldError, toldRecord } from './told-error.ts';

/** How a stream ends. `usage` is that of the whole run, where it is known. */
export type Ending = { readonly usage?: Usage } & (
  | { readonly kind: 'completed'; readonly output?: JsonValue }
  /** Nothing is waited for but tools of the client. */
  | { readonly kind: 'pending'; readonly toolCallIds: readonly string[] }
  | { readonly kind: 'interrupted'; readonly interrupts: readonly Interrupt[] }
  | { readonly kind: 'cancelled'; readonly reason?: string }
  | { readonly kind: 'failed'; readonly error: ToldError }
);

export function endOfEvent(
  event: EventOf<'run-paused' | 'run-finished'>,
  place: { readonly rootRunId: RunId; readonly seq: number },
): Ending {
  const { usage } = event;
  if (event.type === 'run-paused') return { usage, ...endOfWaits(event.waits, place) };
  const { outcome } = event;
  switch (outcome.kind) {
    case 'completed':
      return {
        usage,
        kind: 'completed',
        ...(outcome.output === undefined ? {} : { output: outcome.output }),
      };
    case 'cancelled':
      return {
        usage,
        kind: 'cancelled',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
    case 'failed':
      return { usage, kind: 'failed', error: toldRecord(outcome.error) };
  }
}

/** The same, read from the run itself. Of a run that has failed, the log was the only place that says why. */
export function endOfRest({
  run,
  waits,
  lastSeq: seq,
}: Pick<RunSnapshot, 'run' | 'waits' | 'lastSeq'>): Ending {
  switch (run.status) {
    case 'completed':
      return { kind: 'completed' };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
      return { kind: 'failed', error: goneError(run) };
    default:
      return endOfWaits(waits, { rootRunId: run.rootRunId, seq });
  }
}

export function errorEnd(error: unknown): Ending {
  return { kind: 'failed', error: toldError(error) };
}

function endOfWaits(
  waits: readonly Wait[],
  { rootRunId, seq }: { readonly rootRunId: RunId; readonly seq: number },
): Ending {
  const interrupts = waits.filter((wait) => !isFrontendCall(wait)).map(interruptOf);
  if (interrupts.length > 0) return { kind: 'interrupted', interrupts };
  const toolCallIds = waits.flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
  if (toolCallIds.length > 0) return { kind: 'pending', toolCallIds };
  return { kind: 'interrupted', interrupts: [holdInterrupt(rootRunId, seq)] };
}

function goneError({ runId }: RunState): ToldError {
  return {
    code: 'RUN_ENDED',
    message: `The run "${runId}" has failed; why is no longer kept in its log.`,
  };
}

/** The one event that ends a stream. */
export function terminalEvent(
  ending: Ending,
  run: {
    readonly threadId: string;
    readonly runId: string;
    readonly usage?: TokenUsage[];
  },
): AGUIEvent {
  const finished = { type: EventType.RUN_FINISHED, ...run } as const;
  switch (ending.kind) {
    case 'completed':
      return {
        ...finished,
        outcome: { type: 'success' },
        ...(ending.output === undefined ? {} : { result: ending.output }),
      };
    case 'pending':
      return {
        ...finished,
        outcome: { type: 'success', pendingToolCallIds: [...ending.toolCallIds] },
      };
    case 'interrupted':
      return { ...finished, outcome: { type: 'interrupt', interrupts: [...ending.interrupts] } };
    case 'cancelled':
      return {
        ...finished,
        outcome: { type: 'cancelled' },
        ...(ending.reason === undefined
          ? {}
          : { metadata: { hexagent: { reason: ending.reason } } }),
      };
    case 'failed': {
      const { code, message, mend } = ending.error;
      return {
        type: EventType.RUN_ERROR,
        code,
        message,
        ...(run.usage === undefined ? {} : { usage: run.usage }),
        ...(mend === undefined ? {} : { metadata: { hexagent: { mend } } }),
      };
    }
  }
}
