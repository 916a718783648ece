import type { CallId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { EvidenceKind } from '../vocabulary/evidence.ts';
import type { CallOutcome, Part } from '../vocabulary/message.ts';
import type { RunOutcome, RunSummary } from '../vocabulary/outcome.ts';
import type { SignalKind } from '../vocabulary/signal.ts';
import type { JsonPatch } from '../vocabulary/state.ts';
import type { Usage } from '../vocabulary/usage.ts';
import type { Wait } from '../vocabulary/wait.ts';

/** Everything a run tells. Transports project it; nothing has a second taxonomy. */
export type AgentEvent =
  // committed before shown: something happened
  | { readonly type: 'run-started' }
  | {
      readonly type: 'run-paused';
      readonly waits: readonly Wait[];
      readonly usage: Usage;
      readonly summary: RunSummary;
    }
  | {
      readonly type: 'run-finished';
      readonly outcome: RunOutcome;
      readonly usage: Usage;
      readonly summary: RunSummary;
    }
  | {
      readonly type: 'step-finished';
      readonly stepId: string;
      readonly usage?: Usage;
      /** The model's finish reason, or `done`, `paused`, `cancelled`, `failed`. */
      readonly finish: string;
    }
  | {
      readonly type: 'tool-call-result';
      readonly messageId: string;
      readonly callId: CallId;
      readonly toolName: string;
      readonly outcome: CallOutcome;
      readonly content: readonly Part[];
    }
  | { readonly type: 'wait-opened'; readonly wait: Wait }
  | { readonly type: 'wait-closed'; readonly wait: Wait }
  | { readonly type: 'signal-consumed'; readonly kind: SignalKind; readonly signalSeq: number }
  | {
      readonly type: 'evidence-recorded';
      readonly kind: EvidenceKind;
      readonly evidenceSeq: number;
    }
  | { readonly type: 'state-snapshot'; readonly snapshot: JsonValue }
  | { readonly type: 'state-delta'; readonly patch: readonly JsonPatch[] }
  | {
      readonly type: 'artifact';
      readonly artifactId: string;
      readonly name?: string;
      readonly parts: readonly Part[];
    }
  // shown live: something is happening in an open step (Envelope.stepId); may be rewound until its step-finished is committed
  | {
      readonly type: 'step-started';
      readonly stepId: string;
      readonly kind: 'model' | 'tool' | 'compaction' | 'signal';
    }
  | { readonly type: 'message-delta'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'reasoning-delta'; readonly reasoningId: string; readonly delta: string }
  | {
      readonly type: 'tool-call-start';
      readonly messageId: string;
      readonly callId: CallId;
      readonly toolName: string;
    }
  | { readonly type: 'tool-call-args-delta'; readonly callId: CallId; readonly delta: string }
  | { readonly type: 'tool-call-end'; readonly callId: CallId }
  | {
      readonly type: 'progress';
      readonly message: string;
      readonly callId?: CallId;
      readonly detail?: JsonValue;
    }
  // marks: shown at once, stored with the next commit, of no step
  | { readonly type: 'run-resumed'; readonly deliveries: number }
  /** Live events that no longer count: those of `steps`, and (new owner only) every live event with seq > after. */
  | {
      readonly type: 'rewound';
      readonly steps: readonly string[];
      readonly after?: number;
      readonly reason: 'owner-changed' | 'model-retry' | 'output-rejected';
    };

export type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

/** When an event may be shown: after its commit, at once as part of a step, or at once and of no step. */
export type EventClass = 'committed-first' | 'live' | 'mark';

/** The class of every event type. */
export const EVENT_CLASSES: Readonly<Record<AgentEvent['type'], EventClass>> = {
  'run-started': 'committed-first',
  'run-paused': 'committed-first',
  'run-finished': 'committed-first',
  'step-finished': 'committed-first',
  'tool-call-result': 'committed-first',
  'wait-opened': 'committed-first',
  'wait-closed': 'committed-first',
  'signal-consumed': 'committed-first',
  'evidence-recorded': 'committed-first',
  'state-snapshot': 'committed-first',
  'state-delta': 'committed-first',
  artifact: 'committed-first',
  'step-started': 'live',
  'message-delta': 'live',
  'reasoning-delta': 'live',
  'tool-call-start': 'live',
  'tool-call-args-delta': 'live',
  'tool-call-end': 'live',
  progress: 'live',
  'run-resumed': 'mark',
  rewound: 'mark',
};
