import type { RunId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { AgentEvent, EventOf } from './agent-event.ts';
import type { AgentYield } from './agent-yield.ts';
import type { Envelope } from './envelope.ts';

const NOTHING: readonly AgentYield[] = [];

/**
 * The contract's stream items of one event; `docs/events.md` is the table. Pure: the same event gives
 * the same items, wherever it was read.
 *
 * A `final` item carries the agent's typed output when it declares one, else the contract's summary
 * `{ stateId, status, toolCalls, evidenceCount, text }`.
 */
export function toYields(envelope: Envelope): readonly AgentYield[] {
  const { event } = envelope;
  switch (event.type) {
    case 'message-delta':
      return [{ kind: 'token', text: event.delta }];
    case 'reasoning-delta':
      return [{ kind: 'progress', message: event.delta, step: 'reasoning' }];
    case 'progress':
      return [
        {
          kind: 'progress',
          message: event.message,
          ...(event.callId === undefined ? {} : { step: event.callId }),
          ...(event.detail === undefined ? {} : { detail: event.detail }),
        },
      ];
    case 'step-started':
      return [progress(STEP_TEXTS[event.kind], event.kind, { stepId: event.stepId })];
    case 'run-started':
      return [progress('run started', 'run')];
    case 'run-paused':
      return [progress('run paused', 'run', { waits: event.waits.map((wait) => wait.id) })];
    case 'run-resumed':
      return [progress('run resumed', 'resume', { deliveries: event.deliveries })];
    case 'rewound':
      return [
        progress('earlier items no longer count', 'rewound', {
          steps: event.steps,
          reason: event.reason,
          ...(event.after === undefined ? {} : { after: event.after }),
        }),
      ];
    case 'signal-consumed':
      return [
        progress(`${event.kind.replaceAll('-', ' ')} consumed`, 'signal', {
          signalSeq: event.signalSeq,
        }),
      ];
    case 'wait-opened':
      return [{ kind: 'approval', wait: event.wait }];
    case 'wait-closed':
      return [
        progress(`wait ${event.wait.status}`, 'wait', {
          waitId: event.wait.id,
          ...(event.wait.decision === undefined ? {} : { decision: event.wait.decision }),
        }),
      ];
    case 'state-snapshot':
      return [progress('state', 'state', event.snapshot)];
    case 'state-delta':
      return [progress('state changed', 'state', event.patch as unknown as JsonValue)];
    case 'artifact':
      return [
        progress(event.name ?? event.artifactId, 'artifact', { artifactId: event.artifactId }),
      ];
    case 'evidence-recorded':
      return [{ kind: 'evidence', evidenceKind: event.kind, evidenceSeq: event.evidenceSeq }];
    case 'tool-call-result':
      return [
        {
          kind: 'tool',
          name: event.toolName,
          callId: event.callId,
          outcome: event.outcome,
          content: event.content,
        },
      ];
    case 'tool-call-start':
    case 'tool-call-args-delta':
    case 'tool-call-end':
    case 'step-finished':
      return NOTHING;
    case 'run-finished':
      return [finalYield(event, envelope.runId)];
    default:
      return assertNever(event);
  }
}

const STEP_TEXTS = {
  model: 'preparing model request',
  tool: 'running tools',
  compaction: 'compacting history',
  signal: 'answering a signal',
} as const;

function finalYield(event: EventOf<'run-finished'>, runId: RunId): AgentYield {
  const { outcome, summary } = event;
  if (outcome.kind === 'failed') return { kind: 'error', ...outcome.error };
  if (outcome.kind === 'cancelled') {
    return {
      kind: 'cancel',
      ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      ...(outcome.requestedBy === undefined ? {} : { requestedBy: outcome.requestedBy }),
    };
  }
  if (outcome.output !== undefined) return { kind: 'final', output: outcome.output };
  const { toolCalls, evidenceCount, text } = summary;
  return {
    kind: 'final',
    output: { stateId: runId, status: 'completed', toolCalls, evidenceCount, text },
  };
}

function progress(message: string, step: string, detail?: JsonValue): AgentYield {
  return { kind: 'progress', message, step, ...(detail === undefined ? {} : { detail }) };
}

function assertNever(value: never): never {
  throw new TypeError(`Not an event of this edition: ${JSON.stringify(value)}`);
}

/** What a hook or a custom `execute` says about the run itself instead of showing an event. */
export type YieldedEnd =
  | { readonly end: 'final'; readonly output: JsonValue }
  | {
      readonly end: 'error';
      readonly code: string;
      readonly message: string;
      readonly mend: string;
    }
  | { readonly end: 'cancel'; readonly reason?: string };

/**
 * The event that a yielded item becomes, or the end that it asks for: the same table, read from the
 * other side. `messageId` is the message that tokens belong to.
 */
export function fromYield(
  item: AgentYield,
  messageId: string,
): { readonly event: AgentEvent } | YieldedEnd {
  switch (item.kind) {
    case 'token':
      return { event: { type: 'message-delta', messageId, delta: item.text } };
    case 'progress':
      return {
        event: {
          type: 'progress',
          message: item.message,
          ...(item.detail === undefined ? {} : { detail: item.detail }),
        },
      };
    case 'tool':
      return {
        event: {
          type: 'tool-call-result',
          messageId,
          callId: item.callId,
          toolName: item.name,
          outcome: item.outcome,
          content: item.content,
        },
      };
    case 'evidence':
      return {
        event: {
          type: 'evidence-recorded',
          kind: item.evidenceKind,
          evidenceSeq: item.evidenceSeq,
        },
      };
    case 'approval':
      return { event: { type: 'wait-opened', wait: item.wait } };
    case 'final':
      return { end: 'final', output: item.output };
    case 'error':
      return { end: 'error', code: item.code, message: item.message, mend: item.mend };
    case 'cancel':
      return { end: 'cancel', ...(item.reason === undefined ? {} : { reason: item.reason }) };
    default:
      return assertNever(item);
  }
}
