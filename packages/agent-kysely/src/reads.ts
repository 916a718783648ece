import {
  type ConversationStore,
  type EventLog,
  FORMAT,
  inputInvalid,
  type Page,
  type Principal,
  type RunHead,
  type RunInbox,
  type RunRecords,
  type RunTree,
  runIdOf,
  type Scope,
  type ValueKey,
  type ValueStore,
} from '@hexagent/agent-core';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { formatUnknown } from './failure.ts';
import { encodeKey, KEY_END } from './key-order.ts';
import {
  byId,
  callRecord,
  evidenceRow,
  runSignal,
  runState,
  shownWait,
  standing,
  stored,
  storedEvents,
  storedMessage,
  storedValue,
  waitRecord,
} from './records.ts';
import type { RunRow, TableName, Tables } from './tables.ts';

/** Any select over the tables, whose rows are `Row`. */
export type Select<Row> = SelectQueryBuilder<Tables, TableName, Row>;

/** How selects reach the database. */
export interface Reader {
  /** Builds queries; nothing runs through it. */
  readonly build: Kysely<Tables>;
  /** The `from` of a table, under its plain name. */
  from<T extends TableName>(table: T): T;
  all<Row>(query: Select<Row>, signal: AbortSignal): Promise<readonly Row[]>;
  /** The rows of several selects, as of one moment. Their order is not kept. */
  snapshot<Rows extends readonly unknown[]>(
    queries: { readonly [I in keyof Rows]: Select<Rows[I]> },
    signal: AbortSignal,
  ): Promise<{ readonly [I in keyof Rows]: readonly Rows[I][] }>;
  /** The store's clock inside a query. */
  readonly now: () => ReturnType<typeof sql<number>>;
}

type Stores = {
  readonly records: Omit<RunRecords, 'erase' | 'prune'>;
  readonly log: Pick<EventLog, 'read'>;
  readonly conversations: ConversationStore;
  readonly inbox: Pick<RunInbox, 'pending'>;
  readonly values: Pick<ValueStore, 'get' | 'list'>;
};

/** Everything that only reads: the same queries on both databases. */
export function storeReads(reader: Reader): Stores {
  return {
    records: {
      head: (rootRunId, { signal }) => head(reader, { rootRunId, signal }),
      load: (rootRunId, { signal }) => load(reader, { rootRunId, signal }),
      runs: (query) => runs(reader, query),
      waits: (query) => waits(reader, query),
      evidence: async (rootRunId, { after, limit, manifestRef, signal }) => {
        let query = reader.build
          .selectFrom(reader.from('evidence'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(limit);
        if (manifestRef !== undefined) query = query.where('manifest_ref', '=', manifestRef);
        return (await reader.all(query, signal)).map(evidenceRow);
      },
    },
    log: {
      read: async (rootRunId, { after, limit, signal }) => {
        const query = reader.build
          .selectFrom(reader.from('event'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('last_seq', '>', after)
          .orderBy('last_seq')
          .limit(limit);
        return (await reader.all(query, signal)).map(storedEvents);
      },
    },
    conversations: {
      turns: (conversationId, query) => turns(reader, { conversationId, ...query }),
    },
    inbox: {
      pending: async (rootRunId, { signal }) => {
        const query = reader.build
          .selectFrom(reader.from('signal'))
          .selectAll()
          .where('root', '=', rootRunId)
          .where('consumed_at', 'is', null)
          .orderBy('seq');
        return (await reader.all(query, signal)).map(runSignal);
      },
    },
    values: {
      get: async (key, { signal }) => {
        const [row] = await reader.all(valueQuery(reader, key), signal);
        return row === undefined ? undefined : storedValue(row);
      },
      list: (query) => values(reader, query),
    },
  };
}

type AtRoot = { readonly rootRunId: string; readonly signal: AbortSignal };

async function head(reader: Reader, { rootRunId, signal }: AtRoot): Promise<RunHead | undefined> {
  const query = reader.build
    .selectFrom(reader.from('run'))
    .select(['id', 'state', 'principal', 'format', 'fence', 'last_seq', 'pruned_through'])
    .where('id', '=', rootRunId)
    .whereRef('id', '=', 'root');
  const [row] = await reader.all(query, signal);
  if (row === undefined) return undefined;
  return {
    run: runState(row),
    principal: principalOf(row),
    format: known(row),
    fence: Number(row.fence),
    lastSeq: Number(row.last_seq),
    prunedThrough: Number(row.pruned_through),
  };
}

function principalOf({ id, principal }: Pick<RunRow, 'id' | 'principal'>): Principal {
  return stored<Principal>(principal, `the principal of run ${id}`);
}

/** The edition of a run's records, if this process can read it. */
function known({ id, format }: Pick<RunRow, 'id' | 'format'>): number {
  if (format > FORMAT) throw formatUnknown(`Run ${id}`, `it has format ${format}, not ${FORMAT}`);
  return format;
}

async function load(reader: Reader, { rootRunId, signal }: AtRoot): Promise<RunTree | undefined> {
  const { build, from } = reader;
  const [runRows, callRows, waitRows, messageRows, evidenceRows] = await reader.snapshot(
    [
      build.selectFrom(from('run')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('call')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('wait')).selectAll().where('root', '=', rootRunId),
      build.selectFrom(from('message')).selectAll().where('root', '=', rootRunId),
      build
        .selectFrom(from('evidence'))
        .selectAll()
        .where('root', '=', rootRunId)
        .orderBy('seq', 'desc')
        .limit(1),
    ],
    signal,
  );
  const root = runRows.find(({ id }) => id === rootRunId);
  if (root === undefined || root.input === null) return undefined;
  const format = known(root);
  const [last] = evidenceRows;
  return {
    runs: [...runRows].sort(byId).map(runState),
    principal: principalOf(root),
    input: stored<RunTree['input']>(root.input, `the input of run ${root.id}`),
    calls: [...callRows].sort((a, b) => a.step - b.step || byId(a, b)).map(callRecord),
    waits: [...waitRows].sort((a, b) => a.opened_at - b.opened_at || byId(a, b)).map(waitRecord),
    messages: [...messageRows]
      .sort((a, b) => byId({ id: a.run }, { id: b.run }) || a.seq - b.seq)
      .map(storedMessage),
    ...(last === undefined ? {} : { lastEvidence: evidenceRow(last) }),
    lastSeq: root.last_seq,
    openSteps: stored<string[]>(root.open_steps, `the open steps of run ${root.id}`),
    format,
  };
}

async function runs(
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

async function waits(
  reader: Reader,
  { scope, runId, kind, status, after, limit, signal }: Parameters<RunRecords['waits']>[0],
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
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (status !== undefined) query = query.where('status', '=', status);
  if (after !== undefined) {
    const { at, id } = placeOfCursor(after);
    query = query.where(sql<boolean>`(opened_at, id) > (${at}, ${id})`);
  }
  const rows = await reader.all(query, signal);
  return pageOf(rows, { limit, item: shownWait, cursor: (row) => `${row.opened_at}~${row.id}` });
}

async function turns(
  reader: Reader,
  query: {
    readonly conversationId: string;
    readonly scope: Scope;
    readonly last: number;
    readonly signal: AbortSignal;
  },
): ReturnType<ConversationStore['turns']> {
  const { build, from } = reader;
  const { conversationId, scope, last, signal } = query;
  let conversation = build
    .selectFrom(from('conversation'))
    .select('id')
    .where('tenant', '=', scope.tenantId)
    .where('id', '=', conversationId);
  if (scope.userId !== undefined) conversation = conversation.where('owner', '=', scope.userId);
  const settled = build
    .selectFrom(from('turn'))
    .selectAll()
    .where('tenant', '=', scope.tenantId)
    .where('conversation', 'in', conversation)
    .orderBy('n', 'desc')
    .limit(last);
  const messages = build
    .selectFrom(from('message'))
    .selectAll('message')
    .where('message.run', 'in', build.selectFrom(settled.as('settled')).select('settled.run'))
    .where('message.root', 'in', build.selectFrom(settled.as('settled')).select('settled.root'));
  const [turnRows, messageRows] = await reader.snapshot([settled, messages], signal);
  const rows = messageRows.map(storedMessage);
  return [...turnRows]
    .sort((left, right) => left.n - right.n)
    .map(({ run }) => ({
      runId: runIdOf(run),
      messages: standing(
        rows.filter(({ runId }) => runId === run).sort((left, right) => left.seq - right.seq),
      ).map(({ message }) => message),
    }));
}

function valueQuery({ build, from, now }: Reader, { namespace, tenantId, key }: ValueKey) {
  return build
    .selectFrom(from('value'))
    .selectAll()
    .where('tenant', '=', tenantId)
    .where('namespace', '=', namespace)
    .where('key', '=', encodeKey(key))
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', now())]));
}

async function values(
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
  return pageOf(rows, { limit, item: storedValue, cursor: (row) => storedValue(row).key });
}

/** Makes a page of one row more than its limit: whether there is a next page is known from it. */
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
  const items = shown.map(item);
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
