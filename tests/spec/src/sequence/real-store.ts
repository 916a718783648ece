import {
  type Envelope,
  envelopesOf,
  type RunId,
  rowsOf,
  runIdOf,
  type StoredEvents,
} from '@hexagent/agent-core';
import { Store } from '../../models/sequence/model.mjs';
import { type SeenEvent, seenEvent, seenRow } from './seen-event.ts';

export const RUN_ID: RunId = runIdOf('r1');

/** A row of the model's store with the row of the product that it stands for. */
export type StoredRow = SeenEvent & { readonly stored: StoredEvents };

/** What `create` writes before anybody owns the run. */
export const FIRST: readonly Envelope[] = [
  { rootRunId: RUN_ID, runId: RUN_ID, agent: 'a', seq: 1, at: 0, event: { type: 'run-started' } },
];

export function storedRows(envelopes: readonly Envelope[]): readonly StoredRow[] {
  return rowsOf(envelopes).map((stored) => ({ ...seenRow(stored), stored }));
}

/** The model's store over the product's rows: joined by `rowsOf`, cut by `envelopesOf`. */
export class RealStore extends Store {
  constructor() {
    super();
    this.rows = [...storedRows(FIRST)];
    this.settled = [...this.rows];
  }

  override read(after: number, limit: number): SeenEvent[] | 'pruned' {
    if (this.isPruned(after)) return 'pruned';
    return this.readRows(after, limit)
      .flatMap((row) => envelopesOf(row, { rootRunId: RUN_ID, after }))
      .map(seenEvent);
  }

  /** As `EventLog.read` answers. */
  readRows(after: number, limit: number): StoredEvents[] {
    return (this.rows as StoredRow[])
      .filter(({ lastSeq }) => lastSeq > after)
      .slice(0, limit)
      .map(({ stored }) => stored);
  }
}
