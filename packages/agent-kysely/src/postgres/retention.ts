import type { EventLog, RunRecords } from '@hexagent/agent-core';
import type { TableName } from '../tables.ts';
import type { PostgresParts } from './parts.ts';
import { statementWriter } from './statement.ts';

/** Removing the front of a log, in one statement. */
export function postgresLogRetention({
  database,
  names,
}: PostgresParts): Required<Pick<EventLog, 'prune'>> {
  return {
    prune: async (rootRunId, { through, signal }) => {
      const writer = statementWriter('prune_log');
      const root = writer.value(rootRunId, 'text');
      const last = writer.value(through, 'bigint');
      writer.part('head', `select id, open_steps from ${names.run} where id = ${root} for update`);
      writer.part(
        'gone',
        `delete from ${names.event} e using head where e.root = head.id and e.last_seq <= ${last} and e.last_seq < coalesce((select min(o.first_seq) from ${names.event} o where o.root = ${root} and o.step in (select jsonb_array_elements_text(head.open_steps::jsonb))), ${Number.MAX_SAFE_INTEGER}) returning e.last_seq`,
      );
      writer.part(
        'moved',
        `update ${names.run} r set pruned_through = (select max(last_seq) from gone) from head where r.id = head.id and exists (select 1 from gone)`,
      );
      return count(await database.run(writer.finish(COUNT.replace('?', 'gone')), { signal }));
    },
  };
}

/** Erasing payloads and removing ended roots: one statement each. */
export function postgresRetention({
  database,
  names,
}: PostgresParts): Pick<RunRecords, 'erase' | 'prune'> {
  return {
    erase: async (rootRunId, evidenceSeqs, { signal }) => {
      const writer = statementWriter('erase');
      const root = writer.value(rootRunId, 'text');
      const seqs = writer.value([...evidenceSeqs], 'bigint[]');
      writer.part(
        'erased',
        `update ${names.evidence} set payload = null, salt = null where root = ${root} and seq = any(${seqs}) and (payload is not null or salt is not null) returning 1`,
      );
      return count(await database.run(writer.finish(COUNT.replace('?', 'erased')), { signal }));
    },
    prune: async ({ endedBefore, keep, scope, signal }) => {
      const writer = statementWriter('prune');
      const tenant = writer.value(scope?.tenantId ?? null, 'text');
      const user = writer.value(scope?.userId ?? null, 'text');
      const before = writer.value(endedBefore, 'bigint');
      const whole = keep === 'evidence' ? ' and input is not null' : '';
      writer.part(
        'ended',
        `select id from ${names.run} where id = root and status in ('completed', 'failed', 'cancelled') and status_at < ${before} and (${tenant} is null or tenant = ${tenant}) and (${user} is null or user_id = ${user})${whole} for update`,
      );
      const inner: readonly TableName[] = ['call', 'message', 'wait', 'event', 'signal', 'turn'];
      const outer: readonly TableName[] = keep === 'evidence' ? [] : ['evidence', 'inbox', 'run'];
      for (const table of [...inner, ...outer]) {
        writer.part(
          `pruned_${table}`,
          `delete from ${names[table]} t using ended where t.root = ended.id`,
        );
      }
      if (keep === 'evidence') {
        writer.part(
          'stripped',
          `update ${names.run} r set input = null, pruned_through = r.last_seq from ended where r.id = ended.id`,
        );
      }
      return count(await database.run(writer.finish(COUNT.replace('?', 'ended')), { signal }));
    },
  };
}

const COUNT = 'select count(*) as count from ?';

function count([row]: readonly unknown[]): number {
  return typeof row === 'object' && row !== null && 'count' in row ? Number(row.count) : 0;
}
