import type { EventLog } from '@hexagent/agent-core';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { type Place, storeNotMigrated } from '../failure.ts';
import { migrationsFor } from '../migrations.ts';
import { storeMigrator } from '../migrator.ts';
import type { OpenedStore } from '../opened-store.ts';
import type { Target } from '../options.ts';
import type { Reader } from '../reader.ts';
import { storeReads } from '../reads.ts';
import { type Naming, quoted, type TableName, type Tables } from '../tables.ts';
import { announcer } from './announcer.ts';
import { connectionOptions, type PostgresDatabase, postgresDatabase } from './database.ts';
import { postgresInbox } from './inbox.ts';
import { listener } from './listener.ts';
import { onAbort } from './on-abort.ts';
import { postgresOwnership } from './ownership.ts';
import type { PostgresParts } from './parts.ts';
import type { PgModule } from './pg.ts';
import { postgresLogRetention, postgresRetention } from './retention.ts';
import { NOW } from './statement.ts';
import { tableNames } from './table-names.ts';
import { postgresValues } from './values.ts';

type PostgresTarget = Extract<Target, { kind: 'postgres' }>;

/** Opens a store on PostgreSQL; the first use connects. */
export async function openPostgres(target: PostgresTarget, module: PgModule): Promise<OpenedStore> {
  const { url, schema, prefix } = target;
  const place = placeOf(url);
  const naming: Naming = schema === undefined ? { prefix } : { prefix, schema };
  const never = new AbortController().signal;
  const database = postgresDatabase(module, {
    ...target,
    place,
    ready: async () => {
      const pending = await migrator.pending({ signal: never });
      if (pending.length > 0) throw storeNotMigrated(place, pending);
    },
  });
  const migrator = storeMigrator({
    migrations: migrationsFor('postgres', naming),
    naming,
    place,
    applied: () => appliedIn(database, naming),
    connect: async () => {
      const pool = new module.default.Pool({ ...connectionOptions(module, url), max: 1 });
      pool.on('error', () => undefined);
      return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    },
    patiently: async (work) => {
      try {
        return await work();
      } catch (error) {
        throw database.failed(error);
      }
    },
  });
  const channelOf = (what: string): string =>
    `${schema === undefined ? '' : `${schema}.`}${prefix}${what}`;
  const channels = { log: channelOf('log'), claimable: channelOf('claimable') };
  const hearing = listener({
    channels: Object.values(channels),
    connect: () => new module.default.Client(connectionOptions(module, url)),
  });
  const saying = announcer(database);
  const say = target.isNotifying ? saying.say : () => undefined;
  const parts: PostgresParts = {
    database,
    names: tableNames(naming),
    grown: (rootRunId) => say(channels.log, rootRunId),
    claimable: () => say(channels.claimable, ''),
  };
  const reader = postgresReader(database, naming);
  const reads = storeReads(reader);
  if (target.migrate === 'auto') await migrator.migrate({ signal: never });
  return {
    store: {
      ownership: {
        ...postgresOwnership(parts),
        claimable: ({ signal }) =>
          hearing.heard({ channel: channels.claimable }, { polls: false, signal }),
      },
      inbox: { ...postgresInbox(parts), ...reads.inbox },
      log: {
        ...reads.log,
        ...postgresLogRetention(parts),
        changed: changed(reader, (payload, signal) =>
          hearing.heard({ channel: channels.log, payload }, { polls: true, signal }),
        ),
      },
      records: { ...reads.records, ...postgresRetention(parts) },
      conversations: reads.conversations,
      values: { ...reads.values, ...postgresValues(parts) },
      ...(target.liveFlushMs === undefined ? {} : { liveFlushMs: target.liveFlushMs }),
    },
    migrator,
    close: async () => {
      await hearing.close();
      await saying.close();
      await database.close();
    },
  };
}

/** Host, port and database, as errors name them. */
function placeOf(url: string): Place {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = `${searchParams.get('host') ?? (hostname || 'localhost')}:${port || '5432'}`;
  return {
    name: `PostgreSQL at ${host}${pathname}`,
    check: `Check that PostgreSQL runs at ${host}, that this process may reach it, and the url of the store.`,
  };
}

async function appliedIn(database: PostgresDatabase, naming: Naming): Promise<readonly string[]> {
  const table = quoted(naming, 'migration');
  try {
    const { rows: found } = await database.pool.query<{ exists: boolean }>(
      'select to_regclass($1) is not null as exists',
      [table],
    );
    if (found[0]?.exists !== true) return [];
    const { rows } = await database.pool.query<{ name: string }>(`select name from ${table}`);
    return rows.map(({ name }) => name);
  } catch (error) {
    throw database.failed(error);
  }
}

function changed(
  reader: Reader,
  heardOf: (rootRunId: string, signal: AbortSignal) => Promise<void>,
): NonNullable<EventLog['changed']> {
  return async (rootRunId, { after, signal }) => {
    signal.throwIfAborted();
    // Listening starts before the look, so nothing can be said in between without being heard.
    const stop = new AbortController();
    const unhook = onAbort(signal, () => stop.abort(signal.reason));
    const heard = heardOf(rootRunId, stop.signal);
    heard.catch(() => undefined);
    try {
      const query = reader.build
        .selectFrom(reader.from('run'))
        .select('last_seq')
        .where('id', '=', rootRunId);
      // A look that fails tells nothing: this is a hint, and the reader's own read says what is wrong.
      const [row] = await reader.all(query, signal).catch(() => [{ last_seq: after }]);
      signal.throwIfAborted();
      if (row !== undefined && row.last_seq <= after) await heard;
    } finally {
      unhook();
      stop.abort();
    }
  };
}

/** Builds queries as text; they run through the pool. */
function postgresReader(database: PostgresDatabase, { prefix, schema }: Naming): Reader {
  const plain = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const build = schema === undefined ? plain : plain.withSchema(schema);
  const rowsOf = <Row>(
    { sql: text, parameters }: CompiledQuery<Row>,
    signal: AbortSignal,
  ): Promise<readonly Row[]> =>
    database.run<Row>({ text, values: parameters, name: '' }, { signal });
  return {
    build,
    from: <T extends TableName>(table: T) => `${prefix}${table} as ${table}` as T,
    all: (query, signal) => rowsOf(query.compile(), signal),
    snapshot: async (queries, signal) => {
      // One statement sees one moment; its rows travel as JSON under the number of their select.
      const selects = queries.map(
        (query, index) =>
          sql<{
            part: number;
            row: string;
          }>`select ${sql.lit(index)} as part, row_to_json(q)::text as "row" from ${query} as q`,
      );
      const rows = await rowsOf(sql`${sql.join(selects, sql` union all `)}`.compile(build), signal);
      const parts: unknown[][] = queries.map(() => []);
      for (const { part, row } of rows as readonly { part: number; row: string }[]) {
        parts[part]?.push(JSON.parse(row));
      }
      return parts as never;
    },
    now: () => sql<number>`${sql.raw(NOW)}`,
  };
}
