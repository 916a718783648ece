import type { ErrorRecord } from '../base/error.ts';
import type { CallId, RunId } from '../base/ids.ts';
import type { JsonValue } from '../base/json.ts';
import type { Cost } from './cost.ts';
import type { Usage } from './usage.ts';
import type { Wait } from './wait.ts';

/** How a run ended. Exactly one in a run's log. */
export type RunOutcome =
  | { readonly kind: 'completed'; readonly text: string; readonly output?: JsonValue }
  | { readonly kind: 'failed'; readonly error: ErrorRecord }
  | { readonly kind: 'cancelled'; readonly reason?: string; readonly requestedBy?: string };

/** What a run has done so far: in `run-paused` and `run-finished`, so that a reader of the log needs nothing else. */
export type RunSummary = {
  /** The text of the last answer. */
  readonly text: string;
  /** Names of the tools that were called, in order. */
  readonly toolCalls: readonly string[];
  readonly evidenceCount: number;
  /** What the model calls have cost, where a price is known for every one of them. */
  readonly cost?: Cost;
  /** Dedupe keys of messages that the run ended without reading. */
  readonly unread?: readonly string[];
  /** Calls whose effect may or may not have happened. */
  readonly unknownEffects?: readonly CallId[];
};

/** What a caller gets when a run ends or pauses. */
export type RunResult<Output> = RunSummary & {
  readonly runId: RunId;
  readonly usage: Usage;
} & (
    | { readonly kind: 'completed'; readonly output: Output }
    | { readonly kind: 'paused'; readonly waits: readonly Wait[] }
    | Extract<RunOutcome, { kind: 'failed' | 'cancelled' }>
  );
