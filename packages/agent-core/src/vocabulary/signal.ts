import type { Instant } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';

export const SIGNAL_KINDS = [
  'user-message',
  'steering-instruction',
  'follow-up',
  'cancel',
  'pause',
  'resume',
  'approval-decision',
  'external-event',
  'scheduler-wake-up',
] as const;
export type SignalKind = (typeof SIGNAL_KINDS)[number];

/** Read in order, when no call is open. */
export const CONVERSATION_KINDS: readonly SignalKind[] = [
  'user-message',
  'steering-instruction',
  'follow-up',
];

/** Where an owner reads its inbox. `configured` is where a custom `execute` asks for its signals. */
export const POLL_POINTS = [
  'safe-boundary',
  'action-boundary',
  'model-stream-tick',
  'tool-boundary',
  'approval-boundary',
  'configured',
] as const;
export type PollPoint = (typeof POLL_POINTS)[number];

/** True for a signal that is addressed and read at every poll, whatever else waits. */
export function isControl(kind: SignalKind): boolean {
  return !CONVERSATION_KINDS.includes(kind);
}

/** An inbound stimulus of a running or waiting run. */
export type RunSignal = {
  /** From 1 in each inbox, in the order of arrival. */
  readonly seq: number;
  readonly kind: SignalKind;
  readonly payload: JsonObject;
  readonly dedupeKey: string;
  readonly at: Instant;
};
