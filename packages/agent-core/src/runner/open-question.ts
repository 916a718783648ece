import type { WaitRecord, WaitResolution } from '../vocabulary/wait.ts';

/** A question about a run as a whole, of no call: while it is open nothing of the run is worked on. */
export type OpenQuestion = {
  wait: WaitRecord;
  /** Read, and not yet acted on. */
  answer: WaitResolution | undefined;
  /** It is asked because of deliveries: its commit makes the store count them from the beginning. */
  poison: boolean;
};
