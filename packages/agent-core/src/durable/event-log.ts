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
  /** Capability: resolves when the log may hold something beyond `after`. Absent ⇒ core polls. */
  changed?(rootRunId: RunId, options: { readonly after: number } & Stop): Promise<void>;
}
