import type { RunId, Written } from '@hexagent/agent-core';
import { writtenBefore } from '../commit-rules.ts';
import { refuseWhen, type StatementWriter } from './statement.ts';
import type { TableNames } from './table-names.ts';

/**
 * Adds messages, evidence and events for the root that the part `gate` answers, and answers what
 * refuses them: a number that is not above the last one.
 */
export function writeRows(
  writer: StatementWriter,
  { messages = [], evidence = [], events = [] }: Written,
  {
    names,
    gate,
    root,
  }: { readonly names: TableNames; readonly gate: string; readonly root: RunId },
): readonly string[] {
  const guards: string[] = [];
  const exists = `exists (select 1 from ${gate})`;
  if (messages.length > 0) {
    const rows = writer.value(
      JSON.stringify(
        messages.map(({ runId, seq, message, replaces }) => ({
          run: runId,
          seq,
          message: JSON.stringify(message),
          replaces: replaces === undefined ? null : JSON.stringify(replaces),
        })),
      ),
      'json',
    );
    writer.part(
      'messages',
      `insert into ${names.message} (root, run, seq, message, replaces) select ${gate}.id, x.run, x.seq, x.message, x.replaces from ${gate}, json_to_recordset(${rows}) as x(run text, seq bigint, message text, replaces text)`,
    );
  }
  if (evidence.length > 0) {
    const first = increasing(
      evidence,
      (row) => [row.seq, row.seq, `evidence row ${row.seq}`],
      root,
    );
    const rows = writer.value(
      JSON.stringify(
        evidence.map(({ payload, runId, ...row }) => ({
          ...row,
          run: runId,
          payload: payload === undefined ? null : JSON.stringify(payload),
        })),
      ),
      'json',
    );
    writer.part(
      'evidences',
      `insert into ${names.evidence} (root, seq, run, kind, at, manifest_ref, payload, salt, payload_digest, previous_hash, hash) select ${gate}.id, x.seq, x.run, x.kind, x.at, x."manifestRef", x.payload, x.salt, x."payloadDigest", x."previousHash", x.hash from ${gate}, json_to_recordset(${rows}) as x(seq bigint, run text, kind text, at bigint, "manifestRef" text, payload text, salt text, "payloadDigest" text, "previousHash" text, hash text)`,
    );
    const before = `(select max(seq) from ${names.evidence} where root = ${writer.value(root, 'text')})`;
    guards.push(
      refuseWhen(`${exists} and ${before} >= ${writer.value(first, 'bigint')}`, 'evidence'),
    );
  }
  if (events.length > 0) {
    const first = increasing(
      events,
      (row) => [row.firstSeq, row.lastSeq, `event ${row.firstSeq}`],
      root,
    );
    const rows = writer.value(
      JSON.stringify(
        events.map(({ runId, stepId, firstSeq, lastSeq, event, ends, agent, at }) => ({
          run: runId,
          agent,
          step: stepId,
          first: firstSeq,
          last: lastSeq,
          at,
          event: JSON.stringify(event),
          ends: ends === undefined ? null : JSON.stringify(ends),
        })),
      ),
      'json',
    );
    writer.part(
      'events',
      `insert into ${names.event} (root, first_seq, last_seq, run, agent, step, at, event, ends) select ${gate}.id, x.first, x.last, x.run, x.agent, x.step, x.at, x.event, x.ends from ${gate}, json_to_recordset(${rows}) as x(run text, agent text, step text, first bigint, last bigint, at bigint, event text, ends text)`,
    );
    const before = `(select max(last_seq) from ${names.event} where root = ${writer.value(root, 'text')})`;
    guards.push(refuseWhen(`${exists} and ${before} >= ${writer.value(first, 'bigint')}`, 'event'));
  }
  return guards;
}

/** Checks that the numbers of one commit grow; answers the first. */
function increasing<Row>(
  rows: readonly Row[],
  spanOf: (row: Row) => readonly [first: number, last: number, name: string],
  root: RunId,
): number {
  let previous: number | undefined;
  let start = 0;
  for (const row of rows) {
    const [first, last, name] = spanOf(row);
    if (previous === undefined) start = first;
    else if (first <= previous) throw writtenBefore(root, name);
    previous = last;
  }
  return start;
}
