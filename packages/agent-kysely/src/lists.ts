import {
  AgentError,
  inputInvalid,
  type Page,
  type RunRecords,
  type ValueStore,
} from '@hexagent/agent-core';
import { sql } from 'kysely';
import { decodeKey, encodeKey, KEY_END } from './key-order.ts';
import type { Reader } from './reader.ts';
import { runState, shownWait, storedValue } from './records.ts';

/** Root runs of a scope, by their last status, newest first. */
export async function listRuns(
  reader: Reader,
  { scope, agent, conversationId, status, after, limit, signal }: Parameters<RunRecords['runs']>[0],
): ReturnType<RunRecords['runs']> {
  let query = reader.build
    .selectFrom(reader.from('run'))
    .select(['id', 'state', 'status_at'])
    .whereRef('id', '=', 'root')
    .where('tenant', '=', scope.tenantId)
    .orderBy('status_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (scope.userId !== undefined) query = query.where('user_id', '=', scope.userId);
  if (agent !== undefined) query = query.where('agent', '=', agent);
  if (conversationId !== undefined) query = query.where('conversation', '=', conversationId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== undefined) {
    const { at, id } = placeOfCursor(after);
    query = query.where(sql<boolean>`(status_at, id) < (${at}, ${id})`);
  }
  const rows = await reader.all(query, signal);
  return pageOf(rows, { limit, item: runState, cursor: (row) => `${row.status_at}~${row.id}` });
}

/** Waits of a scope, oldest first. */
export async function listWaits(
  reader: Reader,
  { scope, runId, agent, kind, status, after, limit, signal }: Parameters<RunRecords['waits']>[0],
): ReturnType<RunRecords['waits']> {
  let query = reader.build
    .selectFrom(reader.from('wait'))
    .selectAll()
    .where('tenant', '=', scope.tenantId)
    .orderBy('opened_at')
    .orderBy('id')
    .limit(limit + 1);
  if (scope.userId !== undefined) query = query.where('user_id', '=', scope.userId);
  if (runId !== undefined) {
    query = query.where((row) => row.or([row('run', '=', runId), row('root', '=', runId)]));
  }
  if (agent !== undefined) {
    query = query.where((row) =>
      row.exists(
        row
          .selectFrom(reader.from('run'))
          .select('run.id')
          .whereRef('run.root', '=', 'wait.root')
          .whereRef('run.id', '=', 'wait.run')
          .where('run.agent', '=', agent),
      ),
    );
  }
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== undefined) {
    const { at, id } = placeOfCursor(after);
    query = query.where(sql<boolean>`(opened_at, id) > (${at}, ${id})`);
  }
  const rows = await reader.all(query, signal);
  return pageOf(rows, { limit, item: shownWait, cursor: (row) => `${row.opened_at}~${row.id}` });
}

/** Values of a namespace, in the order of keys. */
export async function listValues(
  reader: Reader,
  query: Parameters<ValueStore['list']>[0],
): ReturnType<ValueStore['list']> {
  const { namespace, tenantId, prefix, after, limit, signal } = query;
  let found = reader.build
    .selectFrom(reader.from('value'))
    .selectAll()
    .where('tenant', '=', tenantId)
    .where('namespace', '=', namespace)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', reader.now())]))
    .orderBy('key')
    .limit(limit + 1);
  if (prefix !== undefined) {
    const start = encodeKey(prefix);
    found = found.where('key', '>=', start).where('key', '<', start + KEY_END);
  }
  if (after !== undefined) found = found.where('key', '>', encodeKey(after));
  const rows = await reader.all(found, signal);
  return pageOf(rows, { limit, item: storedValue, cursor: (row) => decodeKey(row.key) });
}

/**
 * Makes a page of one row more than its limit: whether there is a next page is known from it. A row that cannot be read is
 * left out: it must not hide the others. Who reads its run by id is told, and so is who recovers it.
 */
function pageOf<Row, Item>(
  rows: readonly Row[],
  {
    limit,
    item,
    cursor,
  }: {
    readonly limit: number;
    readonly item: (row: Row) => Item;
    readonly cursor: (row: Row) => string;
  },
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.flatMap((row) => {
    try {
      return [item(row)];
    } catch (error) {
      if (AgentError.is(error) && error.code === 'RECORD_CORRUPT') return [];
      throw error;
    }
  });
  return rows.length > limit && last !== undefined ? { items, next: cursor(last) } : { items };
}

function placeOfCursor(cursor: string): { readonly at: number; readonly id: string } {
  const [, at, id] = /^(\d{1,15})~(.+)$/s.exec(cursor) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  throw inputInvalid('The query', [
    {
      at: 'after',
      seen: `${JSON.stringify(cursor)} is not a cursor of this list.`,
      mend: 'Hand back the `next` of the page before, unchanged.',
    },
  ]);
}
