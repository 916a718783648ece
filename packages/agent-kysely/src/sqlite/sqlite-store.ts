import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DurableStore } from '@hexagent/agent-core';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { type Place, storeFailed, storeNotMigrated } from '../failure.ts';
import { migrationsFor } from '../migrations.ts';
import { storeMigrator } from '../migrator.ts';
import type { OpenedStore } from '../opened-store.ts';
import type { Target } from '../options.ts';
import type { Reader } from '../reader.ts';
import { storeReads } from '../reads.ts';
import { quoted, type TableName, type Tables } from '../tables.ts';
import { type SqliteConnection, sqliteConnection } from './connection.ts';
import { sqliteInbox } from './inbox.ts';
import type { LibsqlDatabase, LibsqlModule } from './libsql.ts';
import { migrationConnection } from './migration-connection.ts';
import { sqliteOwnership } from './ownership.ts';
import type { SqliteParts } from './parts.ts';
import { sqliteLogRetention, sqliteRetention } from './retention.ts';
import { sqliteStatements } from './statements.ts';
import { sqliteValues } from './values.ts';

type SqliteTarget = Extract<Target, { kind: 'sqlite' }>;

/** Opens a SQLite file. */
export async function openSqlite(
  target: SqliteTarget,
  { default: Database }: LibsqlModule,
): Promise<OpenedStore> {
  const place = placeOf(target);
  checkFile(target);
  const open = (): LibsqlDatabase => new Database(target.path);
  let shared: LibsqlDatabase | undefined;
  const connection = await sqliteConnection(() => {
    shared = open();
    return shared;
  }, place);
  const naming = { prefix: target.prefix };
  const migrator = storeMigrator({
    migrations: migrationsFor('sqlite', naming),
    naming,
    place,
    applied: async () => appliedIn(connection, quoted(naming, 'migration')),
    connect: async () => migrationConnection(target.path === ':memory:' ? shared : undefined, open),
    patiently: (work, { signal }) => connection.patiently(work, signal),
  });
  const never = new AbortController().signal;
  if (target.migrate === 'auto') {
    try {
      await migrator.migrate({ signal: never });
    } catch (error) {
      connection.close();
      throw error;
    }
  }
  const gated = gatedConnection(connection, async () => {
    const pending = await migrator.pending({ signal: never });
    if (pending.length > 0) throw storeNotMigrated(place, pending);
  });
  return {
    store: storeOver(gated, target),
    migrator,
    close: async () => connection.close(),
  };
}

function storeOver(connection: SqliteConnection, target: SqliteTarget): DurableStore {
  const parts: SqliteParts = {
    connection,
    statements: sqliteStatements({ prefix: target.prefix }),
    now: Date.now,
  };
  const reads = storeReads(sqliteReader(parts, target.prefix));
  return {
    ownership: sqliteOwnership(parts),
    inbox: { ...sqliteInbox(parts), ...reads.inbox },
    log: { ...reads.log, ...sqliteLogRetention(parts) },
    records: { ...reads.records, ...sqliteRetention(parts) },
    conversations: reads.conversations,
    values: { ...reads.values, ...sqliteValues(parts) },
    ...(target.liveFlushMs === undefined ? {} : { liveFlushMs: target.liveFlushMs }),
  };
}

function placeOf({ path }: SqliteTarget): Place {
  if (path === ':memory:')
    return { name: 'the SQLite database in memory', check: 'Open it again.' };
  return {
    name: `the SQLite file "${path}"`,
    check: 'Check that the file is readable and writable, and that no process holds its lock.',
  };
}

function checkFile({ path, url }: SqliteTarget): void {
  if (path === ':memory:') return;
  const folder = dirname(path);
  if (!existsSync(folder)) {
    throw storeFailed(
      `The store "${url}" cannot be opened: the folder "${folder}" does not exist.`,
      'Create the folder, or name a file in one that exists. A relative path starts at the working directory.',
    );
  }
  if (existsSync(path) && !statSync(path).isFile()) {
    throw storeFailed(
      `The store "${url}" cannot be opened: "${path}" is not a file.`,
      'Name a file, as in file:hexagent.db.',
    );
  }
}

function appliedIn(connection: SqliteConnection, table: string): readonly string[] {
  const name = table.replaceAll('"', '');
  const exists = connection.all('select 1 from sqlite_master where name = ?', [name]).length > 0;
  if (!exists) return [];
  return connection.all<{ name: string }>(`select name from ${table}`, []).map((row) => row.name);
}

/** Nothing is read or written before the tables are known to be up to date. */
function gatedConnection(
  connection: SqliteConnection,
  check: () => Promise<void>,
): SqliteConnection {
  let isReady = false;
  const ready = async (): Promise<void> => {
    if (isReady) return;
    await check();
    isReady = true;
  };
  return {
    ...connection,
    write: async (work, signal) => {
      await ready();
      return connection.write(work, signal);
    },
    read: async (work, signal) => {
      await ready();
      return connection.read(work, signal);
    },
  };
}

/** Builds queries as text; they run through the one connection. */
function sqliteReader({ connection, now }: SqliteParts, prefix: string): Reader {
  const build = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const rowsOf = <Row>(query: { compile(): CompiledQuery<Row> }): readonly Row[] => {
    const { sql: text, parameters } = query.compile();
    return connection.all<Row>(text, parameters as readonly (string | number | null)[]);
  };
  return {
    build,
    from: <T extends TableName>(table: T) => `${prefix}${table} as ${table}` as T,
    all: (query, signal) => connection.read(() => rowsOf(query), signal),
    snapshot: (queries, signal) =>
      connection.read(() => queries.map((query) => rowsOf(query)) as never, signal),
    now: () => sql<number>`${now()}`,
  };
}
