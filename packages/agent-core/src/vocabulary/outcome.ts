import type { ErrorRecord } from '../base/error.ts';
import type { CallId, RunId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { Usage } from './usage.ts';
import type { Wait } from './wait.ts';

/** How a run ended. Exactly one in a run's log. */
export type RunOutcome =
  | { readonly kind: 'completed'; readonly text: string; readonly output?: JsonValue }
  | { readonly kind: 'failed'; readonly error: ErrorRecord }
  | { readonly kind: 'cancelled'; readonly reason?: string; readonly requestedBy?: string };

/** What a caller gets when a run ends or pauses. */
export type RunResult<Output> = {
  readonly runId: RunId;
  /** The text of the last answer. */
  readonly text: string;
  /** Names of the tools that were called, in order. */
  readonly toolCalls: readonly string[];
  readonly evidenceCount: number;
  readonly usage: Usage;
  /** Dedupe keys of messages that the run ended without reading. */
  readonly unread?: readonly string[];
  /** Calls whose effect may or may not have happened. */
  readonly unknownEffects?: readonly CallId[];
} & (
  | { readonly kind: 'completed'; readonly output: Output }
  | { readonly kind: 'paused'; readonly waits: readonly Wait[] }
  | Extract<RunOutcome, { kind: 'failed' | 'cancelled' }>
);
