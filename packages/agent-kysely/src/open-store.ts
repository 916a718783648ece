import type { OpenedStore } from './opened-store.ts';
import { type KyselyOptions, targetOf } from './options.ts';
import { loadPg } from './postgres/pg.ts';
import { openPostgres } from './postgres/postgres-store.ts';
import { type LoadModule, loadLibsql } from './sqlite/libsql.ts';
import { openSqlite } from './sqlite/sqlite-store.ts';

/**
 * Opens a store without an application around it.
 *
 * Contract:
 * - wrong options fail with `DEFINITION_INVALID`, all at once;
 * - loads the driver of the database that the URL names, and no other; a missing one fails with
 *   `STORE_DRIVER_MISSING` and its install command;
 * - a SQLite file is opened and, by default, migrated; PostgreSQL is connected to at the first use.
 */
export function openKyselyStore(
  url: string,
  options: Omit<KyselyOptions, 'url'> = {},
): Promise<OpenedStore> {
  return openWith({ ...options, url }, (name) => import(name));
}

/** The same, with the way to load a driver. */
export async function openWith(options: unknown, load: LoadModule): Promise<OpenedStore> {
  const target = targetOf(options);
  return target.kind === 'sqlite'
    ? openSqlite(target, await loadLibsql(target.url, load))
    : openPostgres(target, await loadPg(target.url, load));
}
