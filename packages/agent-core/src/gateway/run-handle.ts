import type { RunId } from '../base/ids.ts';
import type { AgentYield } from '../events/agent-yield.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunResult } from '../vocabulary/outcome.ts';

/** A run that was started or joined. `result` always settles. */
export interface RunHandle<Output = unknown> {
  readonly runId: RunId;
  /** Resolves when the run ends or pauses; rejects only on a bug, a lost store or a lost run. */
  readonly result: Promise<RunResult<Output>>;
  /**
   * Every event with a number above `after`; ends at a pause or at the end. Without `after`: from the start of a run that
   * this handle started, and from where it joined for any other (`after: 0` gives the whole log).
   */
  events(options?: {
    readonly after?: number;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<Envelope>;
  /** The same, as the contract's stream items. */
  yields(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<AgentYield>;
}
