import type { Instant } from '../base/clock.ts';
import type { CallId, RunId, WaitId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Kept } from './kept.ts';
import type { Part } from './message.ts';

export const WAIT_KINDS = [
  'approval',
  'client-result',
  'event',
  'timer',
  'auth',
  'input',
  'recovery',
] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

export const WAIT_STATUSES = ['pending', 'resolved', 'used', 'expired', 'void'] as const;
export type WaitStatus = (typeof WAIT_STATUSES)[number];

export const REMEMBERED = ['tool', 'arguments'] as const;
export const REMEMBERED_WITHIN = ['run', 'conversation', 'user'] as const;

/**
 * An approval that also holds for later calls: of every call of the tool (`tool`), or of those with the very same arguments
 * (`arguments`), in this run, in this conversation, or in all runs of the user.
 */
export type Remember = {
  readonly what: (typeof REMEMBERED)[number];
  readonly within: (typeof REMEMBERED_WITHIN)[number];
};

/**
 * The answer to a wait. `digest` is what the answerer saw; absent = the stored one is taken. `remember` belongs to the approval of a
 * call (a wait of kind `approval`) only.
 */
export type WaitResolution = { readonly digest?: string; readonly comment?: string } & (
  | { readonly decision: 'approve'; readonly remember?: Remember }
  | { readonly decision: 'reject' | 'defer' | 'cancel' }
  | { readonly decision: 'modify'; readonly input: JsonObject }
  /** event, timer, auth, input */
  | { readonly decision: 'answer'; readonly value: JsonValue }
  /** client-result */
  | {
      readonly decision: 'result';
      readonly outcome: 'ok' | 'error';
      readonly content: readonly Part[];
    }
  /** recovery */
  | { readonly decision: 'happened'; readonly result: JsonValue }
  | { readonly decision: 'did-not-happen' | 'abandon' }
);

export const DECISIONS = [
  'approve',
  'reject',
  'modify',
  'defer',
  'cancel',
  'answer',
  'result',
  'happened',
  'did-not-happen',
  'abandon',
] as const;
export type Decision = (typeof DECISIONS)[number];

/** What may be answered to each kind of wait. */
export const DECISIONS_OF: Readonly<Record<WaitKind, readonly Decision[]>> = {
  approval: ['approve', 'reject', 'modify', 'defer', 'cancel'],
  'client-result': ['result', 'cancel'],
  event: ['answer', 'cancel'],
  timer: ['answer', 'cancel'],
  auth: ['answer', 'reject', 'cancel'],
  input: ['answer', 'reject', 'cancel'],
  recovery: ['happened', 'did-not-happen', 'abandon', 'cancel'],
};

/** Every pause is one noun. As it is shown: no answer, no carried value. */
export type Wait = {
  readonly id: WaitId;
  readonly runId: RunId;
  readonly rootRunId: RunId;
  readonly callId?: CallId;
  readonly kind: WaitKind;
  readonly status: WaitStatus;
  /** Of the exact arguments in question: an answer is bound to it. */
  readonly digest: string;
  readonly prompt: JsonObject;
  readonly allowed: readonly Decision[];
  readonly openedAt: Instant;
  readonly expiresAt?: Instant;
  readonly onExpiry: 'reject' | 'pause';
  readonly decision?: Decision;
  readonly resolvedBy?: string;
};

/** As it is stored. */
export type WaitRecord = Wait & { readonly resolution?: Kept<WaitResolution> };
