import { type CreateTableBuilder, type Kysely, type Migration, sql } from 'kysely';
import type { Naming } from './tables.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** Every change of the schema, by name. A name that was released is never changed, nor what it does. */
export function migrationsFor(
  kind: DatabaseKind,
  { prefix }: Naming,
): Readonly<Record<string, Migration>> {
  const columns = kind === 'postgres' ? POSTGRES : SQLITE;
  return { '2026-11-foundation': { up: (database) => foundation(database, { prefix, columns }) } };
}

type Columns = {
  /** An id or a key: compared and sorted by its bytes. */
  readonly key: ReturnType<typeof sql>;
  readonly text: ReturnType<typeof sql>;
  readonly number: ReturnType<typeof sql>;
  readonly flag: ReturnType<typeof sql>;
  /** Ends the statement of a table whose rows are often rewritten. */
  readonly rewritten: ReturnType<typeof sql>;
  /** Ends the statement of a table that is only ever read by its key. */
  readonly byKey: ReturnType<typeof sql>;
};

const POSTGRES: Columns = {
  key: sql`text collate "C"`,
  text: sql`text`,
  number: sql`bigint`,
  flag: sql`smallint`,
  rewritten: sql`with (fillfactor = 70)`,
  byKey: sql``,
};

const SQLITE: Columns = {
  key: sql`text`,
  text: sql`text`,
  number: sql`integer`,
  flag: sql`integer`,
  rewritten: sql``,
  byKey: sql`without rowid`,
};

type Foundation = { readonly prefix: string; readonly columns: Columns };

async function foundation(database: Kysely<unknown>, options: Foundation): Promise<void> {
  await runTables(database, options);
  await outsideTables(database, options);
  await conversationTables(database, options);
}

/** What only the owner of a run writes. */
async function runTables(
  database: Kysely<unknown>,
  { prefix, columns }: Foundation,
): Promise<void> {
  const { key, text, number, flag } = columns;
  const { schema } = database;
  await filled(schema.createTable(`${prefix}run`), {
    id: key,
    root: key,
    tenant: key,
    conversation: key,
    agent: key,
    status: key,
    status_at: number,
    state: text,
    format: number,
    version: number,
    fence: number,
    deliveries: number,
    last_seq: number,
    open_steps: text,
    released: flag,
    pruned_through: number,
  })
    .addColumn('user_id', key)
    .addColumn('principal', text)
    .addColumn('input', text)
    .addColumn('request_key', key)
    .addColumn('owner', key)
    .addColumn('lease_until', number)
    .addColumn('last_commit_id', key)
    .addColumn('wake_at', number)
    .addPrimaryKeyConstraint(`${prefix}run_pk`, ['id'])
    .addUniqueConstraint(`${prefix}run_request`, ['tenant', 'request_key'])
    .modifyEnd(columns.rewritten)
    .execute();
  const run = `${prefix}run`;
  await schema.createIndex(`${run}_tree`).on(run).column('root').execute();
  await schema
    .createIndex(`${run}_list`)
    .on(run)
    .columns(['tenant', 'status_at', 'id'])
    .where(sql<boolean>`id = root`)
    .execute();
  await schema
    .createIndex(`${run}_claim`)
    .on(run)
    .columns(['agent', 'status_at'])
    .where(sql<boolean>`id = root and status in ('created', 'active', 'cancelling')`)
    .execute();
  await schema
    .createIndex(`${run}_wake`)
    .on(run)
    .column('wake_at')
    .where(sql<boolean>`wake_at is not null`)
    .execute();

  await filled(schema.createTable(`${prefix}call`), {
    id: key,
    root: key,
    run: key,
    step: number,
    stage: key,
    record: text,
  })
    .addPrimaryKeyConstraint(`${prefix}call_pk`, ['root', 'id'])
    .modifyEnd(columns.byKey)
    .execute();

  await filled(schema.createTable(`${prefix}message`), {
    root: key,
    run: key,
    seq: number,
    message: text,
  })
    .addColumn('replaces', text)
    .addPrimaryKeyConstraint(`${prefix}message_pk`, ['root', 'run', 'seq'])
    .modifyEnd(columns.byKey)
    .execute();

  await filled(schema.createTable(`${prefix}evidence`), {
    root: key,
    seq: number,
    run: key,
    kind: key,
    at: number,
    payload_digest: text,
    previous_hash: text,
    hash: text,
  })
    .addColumn('manifest_ref', key)
    .addColumn('payload', text)
    .addColumn('salt', text)
    .addPrimaryKeyConstraint(`${prefix}evidence_pk`, ['root', 'seq'])
    .modifyEnd(columns.byKey)
    .execute();

  await filled(schema.createTable(`${prefix}event`), {
    root: key,
    first_seq: number,
    last_seq: number,
    run: key,
    agent: key,
    at: number,
    event: text,
  })
    .addColumn('step', key)
    .addColumn('ends', text)
    .addPrimaryKeyConstraint(`${prefix}event_pk`, ['root', 'last_seq'])
    .modifyEnd(columns.byKey)
    .execute();
}

/** What outsiders write too. */
async function outsideTables(
  database: Kysely<unknown>,
  { prefix, columns }: Foundation,
): Promise<void> {
  const { key, text, number, flag } = columns;
  const { schema } = database;
  const wait = `${prefix}wait`;
  await filled(schema.createTable(wait), {
    id: key,
    root: key,
    run: key,
    tenant: key,
    kind: key,
    status: key,
    digest: text,
    opened_at: number,
    question: text,
  })
    .addColumn('user_id', key)
    .addColumn('expires_at', number)
    .addColumn('decision', text)
    .addColumn('resolved_by', text)
    .addColumn('resolution', text)
    .addPrimaryKeyConstraint(`${wait}_pk`, ['root', 'id'])
    .execute();
  await schema
    .createIndex(`${wait}_list`)
    .on(wait)
    .columns(['tenant', 'status', 'opened_at', 'id'])
    .execute();
  await schema
    .createIndex(`${wait}_due`)
    .on(wait)
    .column('expires_at')
    .where(sql<boolean>`status = 'pending' and expires_at is not null`)
    .execute();

  await filled(schema.createTable(`${prefix}inbox`), { root: key, next: number, closed: flag })
    .addPrimaryKeyConstraint(`${prefix}inbox_pk`, ['root'])
    .modifyEnd(columns.rewritten)
    .execute();

  const signal = `${prefix}signal`;
  await filled(schema.createTable(signal), {
    root: key,
    seq: number,
    kind: key,
    payload: text,
    dedupe_key: key,
    at: number,
    wakes: flag,
  })
    .addColumn('consumed_at', number)
    .addPrimaryKeyConstraint(`${signal}_pk`, ['root', 'seq'])
    .addUniqueConstraint(`${signal}_dedupe`, ['root', 'dedupe_key'])
    .execute();
  await schema
    .createIndex(`${signal}_pending`)
    .on(signal)
    .columns(['root', 'seq'])
    .where(sql<boolean>`consumed_at is null`)
    .execute();
  await schema
    .createIndex(`${signal}_wake`)
    .on(signal)
    .column('root')
    .where(sql<boolean>`wakes = 1`)
    .execute();
}

/** What outlives a run. */
async function conversationTables(
  database: Kysely<unknown>,
  { prefix, columns }: Foundation,
): Promise<void> {
  const { key, text, number } = columns;
  const { schema } = database;
  await filled(schema.createTable(`${prefix}conversation`), {
    tenant: key,
    id: key,
    queue: text,
    turns: number,
  })
    .addColumn('owner', key)
    .addColumn('open_root', key)
    .addPrimaryKeyConstraint(`${prefix}conversation_pk`, ['tenant', 'id'])
    .modifyEnd(columns.rewritten)
    .execute();
  await filled(schema.createTable(`${prefix}turn`), {
    tenant: key,
    conversation: key,
    n: number,
    root: key,
    run: key,
  })
    .addPrimaryKeyConstraint(`${prefix}turn_pk`, ['tenant', 'conversation', 'n'])
    .modifyEnd(columns.byKey)
    .execute();
  await schema.createIndex(`${prefix}turn_tree`).on(`${prefix}turn`).column('root').execute();
  await filled(schema.createTable(`${prefix}value`), {
    tenant: key,
    namespace: key,
    key,
    value: text,
    version: number,
  })
    .addColumn('expires_at', number)
    .addPrimaryKeyConstraint(`${prefix}value_pk`, ['tenant', 'namespace', 'key'])
    .execute();
}

/** Adds columns that always hold something. */
function filled(
  table: CreateTableBuilder<string, never>,
  columns: Readonly<Record<string, ReturnType<typeof sql>>>,
): CreateTableBuilder<string, string> {
  let built: CreateTableBuilder<string, string> = table;
  for (const [name, type] of Object.entries(columns)) {
    built = built.addColumn(name, type, (column) => column.notNull());
  }
  return built;
}
