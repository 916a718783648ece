import { formatUnknown, recordCorrupt } from '../base/error-catalog.ts';
import { FORMAT } from './durable-store.ts';
import type { RunTree } from './run-records.ts';

/** Brings a record from its edition to the next one. Pure: what is stored is not touched. */
export type Upcast = (record: RunTree) => RunTree;

/**
 * The step out of each edition that was ever released, beginning with edition 1. An edition is left only by
 * adding a step here and raising `FORMAT`; a step that was released is never changed.
 */
export const UPCASTS: readonly Upcast[] = [];

/**
 * A stored run tree in the present edition, whichever it was written in.
 *
 * @throws AgentError `FORMAT_UNKNOWN` for an edition that is newer than this version knows, `RECORD_CORRUPT` for what
 * is no edition at all. Nothing is changed then.
 */
export function upcast(
  format: number,
  record: RunTree,
  { steps = UPCASTS }: { readonly steps?: readonly Upcast[] } = {},
): RunTree {
  const [root] = record.runs;
  checkFormat(format, { known: steps.length + 1, runId: root?.rootRunId ?? 'a run' });
  return steps.slice(format - 1).reduce((older, step) => step(older), record);
}

/** Refuses what this version cannot read, before anything is claimed or written. */
export function checkFormat(
  format: number,
  { known = FORMAT, runId }: { readonly known?: number; readonly runId: string },
): void {
  if (!Number.isSafeInteger(format) || format < 1)
    throw recordCorrupt(runId, `its edition is ${format}`);
  if (format > known) throw formatUnknown(format, known);
}
