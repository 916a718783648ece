import type { RunId, Written } from '@hexagent/agent-core';
import { writtenBefore } from '../commit-rules.ts';
import type { SqliteParts } from './parts.ts';

/** Adds messages, evidence and events. Their numbers only grow; one that does not undoes the commit. */
export function insertWritten(
  parts: SqliteParts,
  root: RunId,
  { messages = [], evidence = [], events = [] }: Written,
): void {
  const { connection, statements } = parts;
  for (const { runId, seq, message, replaces } of messages) {
    connection.run(statements.insertMessage, [
      root,
      runId,
      seq,
      JSON.stringify(message),
      replaces === undefined ? null : JSON.stringify(replaces),
    ]);
  }
  let last = evidence.length === 0 ? 0 : newest(parts, statements.lastEvidence, root);
  for (const row of evidence) {
    if (row.seq <= last) throw writtenBefore(root, `evidence row ${row.seq}`);
    last = row.seq;
    connection.run(statements.insertEvidence, [
      root,
      row.seq,
      row.runId,
      row.kind,
      row.at,
      row.manifestRef ?? null,
      row.payload === undefined ? null : JSON.stringify(row.payload),
      row.salt ?? null,
      row.payloadDigest,
      row.previousHash,
      row.hash,
    ]);
  }
  let lastSeq = events.length === 0 ? 0 : newest(parts, statements.lastEvent, root);
  for (const row of events) {
    if (row.firstSeq <= lastSeq) throw writtenBefore(root, `event ${row.firstSeq}`);
    lastSeq = row.lastSeq;
    connection.run(statements.insertEvent, [
      root,
      row.firstSeq,
      row.lastSeq,
      row.runId,
      row.agent,
      row.stepId ?? null,
      row.at,
      JSON.stringify(row.event),
      row.ends === undefined ? null : JSON.stringify(row.ends),
    ]);
  }
}

function newest({ connection }: SqliteParts, statement: string, root: RunId): number {
  return connection.one<{ readonly seq: number | null }>(statement, [root])?.seq ?? 0;
}
