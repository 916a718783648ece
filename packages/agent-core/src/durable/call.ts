import type { CallId, RunId } from '../base/ids.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Kept } from '../vocabulary/kept.ts';

export const CALL_STAGES = [
  'proposed',
  'authorised',
  'started',
  'suspended',
  'committed',
  'failed',
  'unknown',
  'denied',
  'interrupted',
] as const;
export type CallStage = (typeof CALL_STAGES)[number];

/** A tool call on the ledger. */
export type Call = {
  readonly callId: CallId;
  readonly runId: RunId;
  /** The step of the model answer that asked for it. */
  readonly step: number;
  readonly toolName: string;
  readonly stage: CallStage;
  /** Effective: the model's, or as a human edited it. */
  readonly input: Kept<JsonObject>;
  readonly inputDigest: string;
  /** Digest of root run, call and effective arguments. */
  readonly idempotencyKey: string;
  readonly resume: 'retry' | 'probe' | 'ask';
  /** How often it was started; 0 before the first time. */
  readonly attempt: number;
  /** Whose `started` mark it is: below the lease's fence, the call is an orphan. */
  readonly startedFence?: number;
  /** What a suspended call keeps for `resume`. */
  readonly carry?: Kept<JsonValue>;
  /** A teammate's task in another system. */
  readonly remote?: JsonObject;
};
