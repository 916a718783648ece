import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableStore } from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { testPostgres } from '@hexagent/test-postgres';
import Libsql from 'libsql';
import pg from 'pg';

/** A database: our store in it, and the least that could store as much, by the same driver. */
export type Database = {
  readonly name: string;
  readonly store: DurableStore;
  /** Inserts one row of so many characters and commits it, for each. */
  bare(rows: readonly number[]): Promise<void>;
  close(): Promise<void>;
};

/** A file with the settings of the store: every commit is on the disk. */
export async function sqliteDatabase(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-bench-'));
  const { store, close } = await openKyselyStore(`file:${join(folder, 'runs.db')}`);
  const bare = new Libsql(join(folder, 'bare.db'));
  for (const pragma of ['journal_mode = wal', 'synchronous = full'])
    bare.prepare(`pragma ${pragma}`).all([]);
  bare.exec('create table bare (id integer primary key, body text not null)');
  const insert = bare.prepare('insert into bare (body) values (?)');
  const [begin, commit] = [bare.prepare('begin immediate'), bare.prepare('commit')];
  return {
    name: 'SQLite',
    store,
    bare: async (rows) => {
      for (const characters of rows) {
        begin.run([]);
        insert.run(['x'.repeat(characters)]);
        commit.run([]);
      }
    },
    close: async () => {
      await close();
      bare.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of its own on the server of the tests. */
export async function postgresDatabase(): Promise<Database> {
  const postgres = await testPostgres();
  const { url } = await postgres.database('bench');
  const { store, close } = await openKyselyStore(url, { migrate: 'auto', notify: false });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table bare (id bigserial primary key, body text not null)');
  return {
    name: 'PostgreSQL',
    store,
    bare: async (rows) => {
      for (const characters of rows)
        await client.query({
          name: 'bare',
          text: 'insert into bare (body) values ($1)',
          values: ['x'.repeat(characters)],
        });
    },
    close: async () => {
      await close();
      await client.end();
      await postgres.stop();
    },
  };
}
