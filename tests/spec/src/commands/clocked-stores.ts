import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableStore } from '@hexagent/agent-core';
import { type FakeClock, memoryStore } from '@hexagent/agent-core/testing';
import { openKyselyStore } from '@hexagent/agent-kysely';
import { testPostgres } from '@hexagent/test-postgres';
import pg from 'pg';

/** A store whose clock goes with the fake one, for one history after another. */
export type ClockedStore = {
  readonly name: string;
  /** The store for the next history, and how its clock is moved before the fake one is. */
  next(clock: FakeClock): Promise<{
    readonly store: DurableStore;
    readonly advance: (ms: number) => Promise<void>;
  }>;
  close(): Promise<void>;
};

const nothing = async (): Promise<void> => undefined;

/** A new store in memory for each history. */
export async function clockedMemoryStore(): Promise<ClockedStore> {
  return {
    name: 'memory',
    next: async (clock) => ({ store: memoryStore({ clock }), advance: nothing }),
    close: nothing,
  };
}

/** One file for all histories. It goes by the platform's clock, which it takes when it is opened. */
export async function clockedSqliteStore(): Promise<ClockedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-commands-'));
  let now = (): number => 0;
  const platform = Date.now;
  Date.now = () => now();
  const { store, close } = await openKyselyStore(`file:${join(folder, 'runs.db')}`).finally(() => {
    Date.now = platform;
  });
  return {
    name: 'SQLite',
    next: async (clock) => {
      now = clock.now;
      return { store, advance: nothing };
    },
    close: async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** In front of the real one, so that the store's own statements read it. */
const CLOCK = `
  create schema hexagent_time;
  create table hexagent_time.now (ms bigint not null);
  insert into hexagent_time.now values (0);
  create function hexagent_time.clock_timestamp() returns timestamptz language sql volatile
    as 'select to_timestamp(ms / 1000.0) from hexagent_time.now'`;

/** One database for all histories, whose `clock_timestamp` reads a table. */
export async function clockedPostgresStore(): Promise<ClockedStore> {
  const postgres = await testPostgres();
  const { url } = await postgres.database('commands');
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(CLOCK);
  const name = new URL(url).pathname.slice(1);
  await admin.query(`alter database "${name}" set search_path = hexagent_time, pg_catalog, public`);
  const { store, close } = await openKyselyStore(url, { migrate: 'auto', poolSize: 4 });
  const at = async (ms: number): Promise<void> => {
    await admin.query('update hexagent_time.now set ms = $1', [ms]);
  };
  return {
    name: 'PostgreSQL',
    next: async (clock) => {
      await at(clock.now());
      return { store, advance: (ms) => at(clock.now() + ms) };
    },
    close: async () => {
      await close();
      await admin.end();
      await postgres.stop();
    },
  };
}
