import { inputInvalid } from '../base/error-catalog.ts';
import type { RunId } from '../base/ids.ts';
import { type ChainReport, verifyPages } from '../runner/verify-evidence.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import { checkCaller, headFor, type OwnedHead } from './access.ts';
import type { Caller } from './caller.ts';
import type { GatewayParts } from './drive.ts';
import { MAX_PAGE, pageSize, wholeNumber } from './page-query.ts';

/** A page of a run's trail. */
export async function readEvidence(
  parts: GatewayParts,
  {
    runId,
    after = 0,
    limit = MAX_PAGE,
    caller,
  }: {
    readonly runId: RunId;
    readonly after?: number;
    readonly limit?: number;
    readonly caller: Caller;
  },
): Promise<readonly EvidenceRow[]> {
  checkCaller(caller);
  const { run, store } = await headFor(parts, runId, caller);
  return store.records.evidence(run.rootRunId, {
    after: wholeNumber(after, { at: 'after', least: 0 }),
    limit: pageSize(limit),
    signal: caller.signal,
  });
}

/** The whole trail, held against the run's own count of its rows: a chain does not show what is missing at its end. */
export async function verifyRun(
  parts: GatewayParts,
  runId: RunId,
  caller: Caller,
): Promise<ChainReport> {
  checkCaller(caller);
  const head = await headFor(parts, runId, caller);
  const { rootRunId, counters } = head.run;
  const counted = counters['evidence'];
  return verifyPages(pagesOf(head, caller.signal), {
    rootRunId,
    ...(typeof counted === 'number' ? { rows: counted } : {}),
  });
}

async function* pagesOf(
  { run, store }: OwnedHead,
  signal: AbortSignal,
): AsyncGenerator<readonly EvidenceRow[], void, void> {
  for (let after = 0; ; ) {
    const page = await store.records.evidence(run.rootRunId, { after, limit: MAX_PAGE, signal });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.seq;
  }
}

/** An act of whoever answers for the data, on rows that are stored: nothing is written into the run, so nobody has to own it. */
export async function eraseEvidence(
  parts: GatewayParts,
  {
    runId,
    rows,
    caller,
  }: { readonly runId: RunId; readonly rows: readonly number[]; readonly caller: Caller },
): Promise<number> {
  checkCaller(caller);
  const { run, store } = await headFor(parts, runId, caller);
  checkRows(rows);
  return store.records.erase(run.rootRunId, [...new Set(rows)], { signal: caller.signal });
}

function checkRows(rows: readonly number[]): void {
  const mend = `Name 1 to ${MAX_PAGE} rows by their numbers.`;
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > MAX_PAGE)
    throw inputInvalid('The rows to erase', [
      { at: 'rows', seen: `are ${Array.isArray(rows) ? rows.length : typeof rows}.`, mend },
    ]);
  for (const row of rows) wholeNumber(row, { at: 'rows', least: 1 });
}
