import type {
  AgentEvent,
  DurableStore,
  EvidenceRow,
  RunId,
  RunTree,
  StoredEvents,
} from '@hexagent/agent-core';
import { envelopesOf } from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { type Seen, seenOf } from '../child/reader.ts';

/** All that is stored of a run when it is over. */
export type RunRecord = {
  readonly tree: RunTree;
  readonly rows: readonly StoredEvents[];
  readonly events: readonly AgentEvent[];
  /** The log, as a reader sees it that asks for all of it. */
  readonly log: readonly Seen[];
  readonly evidence: readonly EvidenceRow[];
};

const PAGE = 500;

export async function readRecord(url: string, runId: RunId): Promise<RunRecord> {
  const { store, close } = await openKyselyStore(url, { migrate: 'never' });
  try {
    const { signal } = new AbortController();
    const tree = await store.records.load(runId, { signal });
    if (tree === undefined) throw new Error(`There is no run ${runId}.`);
    const rows = await allRows(store, runId, signal);
    const evidence = await allEvidence(store, runId, signal);
    const log = rows.flatMap((row) => envelopesOf(row, { rootRunId: runId, after: 0 })).map(seenOf);
    return { tree, rows, events: rows.map(({ event }) => event), log, evidence };
  } finally {
    await close();
  }
}

async function allRows(
  { log }: DurableStore,
  runId: RunId,
  signal: AbortSignal,
): Promise<readonly StoredEvents[]> {
  const rows: StoredEvents[] = [];
  for (;;) {
    const page = await log.read(runId, { after: rows.at(-1)?.lastSeq ?? 0, limit: PAGE, signal });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

async function allEvidence(
  { records }: DurableStore,
  runId: RunId,
  signal: AbortSignal,
): Promise<readonly EvidenceRow[]> {
  const rows: EvidenceRow[] = [];
  for (;;) {
    const page = await records.evidence(runId, {
      after: rows.at(-1)?.seq ?? 0,
      limit: PAGE,
      signal,
    });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}
