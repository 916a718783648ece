import type { Commit } from '@hexagent/agent-core';
import { questionText } from '../records.ts';
import type { PostgresParts } from './parts.ts';
import { NOW, type StatementWriter } from './statement.ts';

/** Writes the rows of child runs. */
export function writeChildren(
  writer: StatementWriter,
  { names }: PostgresParts,
  { commit, root }: { readonly commit: Commit; readonly root: string },
): void {
  const children = commit.runs.filter((run) => run.runId !== root);
  if (children.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      children.map((run) => ({
        id: run.runId,
        conversation: run.conversationId,
        agent: run.agent,
        status: run.status,
        at: run.statusAt,
        state: JSON.stringify(run),
      })),
    ),
    'json',
  );
  writer.part(
    'children',
    `insert into ${names.run} (id, root, tenant, user_id, conversation, agent, status, status_at, state, format, version, fence, deliveries, last_seq, open_steps, released, pruned_through) select x.id, cas.id, cas.tenant, cas.user_id, x.conversation, x.agent, x.status, x.at, x.state, cas.format, 0, 0, 0, 0, '[]', 0, 0 from cas, json_to_recordset(${rows}) as x(id text, conversation text, agent text, status text, at bigint, state text) on conflict (id) do update set agent = excluded.agent, status = excluded.status, status_at = excluded.status_at, state = excluded.state`,
  );
}

/** Writes calls as they stand now. */
export function writeCalls(
  writer: StatementWriter,
  { names }: PostgresParts,
  { calls = [] }: Commit,
): void {
  if (calls.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      calls.map((call) => ({
        id: call.callId,
        run: call.runId,
        step: call.step,
        stage: call.stage,
        record: JSON.stringify(call),
      })),
    ),
    'json',
  );
  writer.part(
    'calls',
    `insert into ${names.call} (id, root, run, step, stage, record) select x.id, cas.id, x.run, x.step, x.stage, x.record from cas, json_to_recordset(${rows}) as x(id text, run text, step bigint, stage text, record text) on conflict (root, id) do update set stage = excluded.stage, record = excluded.record`,
  );
}

const isOpen = (status: string): boolean => status === 'pending' || status === 'resolved';

/** Moves, voids and opens waits; one statement may not touch a row twice, so what ends void is written so at once. */
export function writeWaits(
  writer: StatementWriter,
  { names }: PostgresParts,
  commit: Commit,
): void {
  const { opens = [], moves = [], voidWaits } = commit;
  const settled = <T extends string>(status: T): T | 'void' =>
    voidWaits !== undefined && isOpen(status) ? 'void' : status;
  if (moves.length > 0) {
    const rows = writer.value(
      JSON.stringify(moves.map(({ id, to }) => ({ id, status: settled(to) }))),
      'json',
    );
    writer.part(
      'moved',
      `update ${names.wait} w set status = m.status from cas, json_to_recordset(${rows}) as m(id text, status text) where w.root = cas.id and w.id = m.id`,
    );
  }
  if (voidWaits !== undefined) {
    const elsewhere = writer.value(
      moves.map(({ id }) => id),
      'text[]',
    );
    writer.part(
      'voided',
      `update ${names.wait} w set status = 'void' from cas where w.root = cas.id and w.status in ('pending', 'resolved') and w.id <> all(${elsewhere})`,
    );
  }
  if (opens.length === 0) return;
  const rows = writer.value(
    JSON.stringify(
      opens.map((wait) => ({
        id: wait.id,
        run: wait.runId,
        kind: wait.kind,
        status: settled(wait.status),
        digest: wait.digest,
        opened: wait.openedAt,
        ttl: wait.ttlMs === undefined ? null : Math.round(wait.ttlMs),
        question: questionText(wait),
        decision: wait.decision,
        by: wait.resolvedBy,
        resolution: wait.resolution === undefined ? null : JSON.stringify(wait.resolution),
      })),
    ),
    'json',
  );
  // One moment for all of them, after the locks.
  writer.part('moment', `select ${NOW} as at from cas`);
  writer.part(
    'opened',
    `insert into ${names.wait} (id, root, run, tenant, user_id, kind, status, digest, opened_at, expires_at, question, decision, resolved_by, resolution) select x.id, cas.id, x.run, cas.tenant, cas.user_id, x.kind, x.status, x.digest, x.opened, moment.at + x.ttl, x.question, x.decision, x.by, x.resolution from cas, moment, json_to_recordset(${rows}) as x(id text, run text, kind text, status text, digest text, opened bigint, ttl bigint, question text, decision text, by text, resolution text)`,
  );
}
