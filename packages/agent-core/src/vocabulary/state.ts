import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Cancellation } from './cancellation.ts';

export const RUN_STATUSES = [
  'created',
  'active',
  'interrupted',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TRANSITIONS = [
  'pending',
  'running',
  'waiting-approval',
  'cancelling',
  'cancelled',
  'completed',
  'failed',
  'timed-out',
  'interrupted',
] as const;
export type RunTransition = (typeof RUN_TRANSITIONS)[number];

export const STATE_REASONS = [
  'approval-required',
  'approval-rejected',
  'approval-deferred',
  'auth-required',
  'execution-failed',
  'user-interrupted',
  'timeout',
  'cancellation-requested',
  'cancellation-cleanup-failed',
  'recovery-requires-hitl',
  'input-required',
  'client-result-required',
  'event-required',
  'timer-pending',
  'definition-changed',
] as const;
export type StateReason = (typeof STATE_REASONS)[number];

/** The materialised lifecycle of one run. */
export type RunState = {
  readonly runId: RunId;
  readonly rootRunId: RunId;
  readonly parentRunId?: RunId;
  readonly conversationId: string;
  readonly agent: string;
  /** Of the definition that the run was started under. */
  readonly fingerprint: string;
  readonly status: RunStatus;
  readonly transition: RunTransition;
  readonly reason?: StateReason;
  readonly metadata: Readonly<Record<string, string>>;
  /** Steps, tool calls, tokens, active milliseconds, evidence rows: see `runner/counters.ts`. */
  readonly counters: JsonObject;
  /** What tools and clients share with the run through `state.patch`. */
  readonly shared: JsonObject;
  /** Since the run was asked to stop. */
  readonly cancellation?: Cancellation;
  readonly createdAt: Instant;
  readonly statusAt: Instant;
};

export const TERMINAL_STATUSES: readonly RunStatus[] = ['completed', 'failed', 'cancelled'];

/** A terminal run is never revived. */
export function isTerminal(status: RunStatus): boolean {
  return TERMINAL_STATUSES.includes(status);
}

/** RFC 6902, the part that a run's shared state takes. */
export type JsonPatch = {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: JsonValue;
};
