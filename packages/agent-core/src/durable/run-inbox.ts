import type { Stop } from '../base/abort.ts';
import type { RunId, WaitId } from '../base/ids.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { RunSignal } from '../vocabulary/signal.ts';
import type { Wait, WaitResolution } from '../vocabulary/wait.ts';

export type ResolveResult =
  | { readonly kind: 'resolved'; readonly rootRunId: RunId }
  | { readonly kind: 'already'; readonly wait: Wait }
  | { readonly kind: 'expired' }
  | { readonly kind: 'digest-mismatch' }
  | { readonly kind: 'not-allowed' }
  | { readonly kind: 'unknown' };

/** What outsiders write: never the run row, never evidence. */
export interface RunInbox {
  /** Looks for the dedupe key first (`duplicate`), then whether the inbox is closed (`terminal`). */
  append(
    rootRunId: RunId,
    signal: Omit<RunSignal, 'seq' | 'at'>,
    stop: Stop,
  ): Promise<'appended' | 'duplicate' | 'terminal'>;
  /**
   * One compare-and-swap `pending → resolved`, with expiry by the store's clock, and one control
   * signal `{ waitId }` of kind `approval-decision`, atomically.
   */
  resolve(
    waitId: WaitId,
    answer: {
      readonly digest: string;
      readonly decision: WaitResolution['decision'];
      readonly resolution: Kept<WaitResolution>;
      readonly by: string;
    },
    stop: Stop,
  ): Promise<ResolveResult>;
  /** Unconsumed signals, in the order of arrival. */
  pending(rootRunId: RunId, stop: Stop): Promise<readonly RunSignal[]>;
}
