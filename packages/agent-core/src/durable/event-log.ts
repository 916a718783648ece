import type { Stop } from '../base/abort.ts';
import type { RunId } from '../base/ids.ts';
import type { StoredEvents } from './commit.ts';

/** What a run tree has shown. */
export interface EventLog {
  /** Rows with `lastSeq` above the cursor, in order; core cuts the first one. */
  read(
    rootRunId: RunId,
    options: { readonly after: number; readonly limit: number } & Stop,
  ): Promise<readonly StoredEvents[]>;
  /**
   * Capability: removes rows from the front, none of an open step, up to and with the row that ends at
   * `through` or before; the head remembers how far. Answers how many rows.
   */
  prune?(rootRunId: RunId, options: { readonly through: number } & Stop): Promise<number>;
  /**
   * Capability: resolves when the log may hold something beyond `after`. A hint: a connection that breaks resolves it or
   * leaves it open, and reading says what is wrong. Absent ⇒ core polls.
   */
  changed?(rootRunId: RunId, options: { readonly after: number } & Stop): Promise<void>;
}
