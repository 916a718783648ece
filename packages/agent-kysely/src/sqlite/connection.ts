import { AgentError } from '@hexagent/agent-core';
import { type Place, storeFailed, storeNotMigrated, storeUnreachable, textOf } from '../failure.ts';
import type { LibsqlDatabase, LibsqlStatement } from './libsql.ts';

type Parameters = readonly (string | number | null)[];

/**
 * One connection to a SQLite file. The driver is synchronous, so whatever runs inside `write` or
 * `read` is one transaction that nothing else of this process can enter; waiting for another process
 * happens between attempts, on a timer.
 */
export interface SqliteConnection {
  /** Runs all of `work` in one transaction that holds the write lock, or none of it. */
  write<T>(work: () => T, signal: AbortSignal): Promise<T>;
  /** Runs `work` on one snapshot. */
  read<T>(work: () => T, signal: AbortSignal): Promise<T>;
  all<Row>(sql: string, parameters: Parameters): Row[];
  one<Row>(sql: string, parameters: Parameters): Row | undefined;
  /** Answers how many rows it changed. */
  run(sql: string, parameters: Parameters): number;
  /** Tries again what meets a lock of another process, and makes its errors ours. */
  patiently<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<T>;
  failed(error: unknown): AgentError;
  close(): void;
}

/** How long the driver may hold up the event loop for a lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 5;
/** The longest pause between two attempts to get the lock, in milliseconds. */
const LONGEST_PAUSE_MS = 40;
/** A lock that is held for so long belongs to somebody who hangs, in milliseconds. */
const PATIENCE_MS = 30_000;

const PRAGMAS = [
  'journal_mode = wal',
  'synchronous = full',
  `busy_timeout = ${BUSY_TIMEOUT_MS}`,
  'foreign_keys = off',
  'temp_store = memory',
];

export async function sqliteConnection(
  open: () => LibsqlDatabase,
  place: Place,
): Promise<SqliteConnection> {
  const failed = (error: unknown): AgentError => sqliteFailure(error, place);
  const opened = await patiently(() => prepared(open), { failed });
  const statements = new Map<string, LibsqlStatement>();
  let isOpen = true;

  const statement = (sql: string): LibsqlStatement => {
    let known = statements.get(sql);
    if (known === undefined) {
      if (!isOpen)
        throw storeFailed(`${place.name} is closed.`, 'Do not use a store after close().');
      known = opened.prepare(sql);
      statements.set(sql, known);
    }
    return known;
  };
  const all = <Row>(sql: string, parameters: Parameters): Row[] =>
    statement(sql).all(parameters) as Row[];
  const run = (sql: string, parameters: Parameters): number =>
    statement(sql).run(parameters).changes;
  const transaction = <T>(begin: string, work: () => T): T => {
    run(begin, []);
    try {
      const result = work();
      run('commit', []);
      return result;
    } catch (error) {
      rollBack(opened);
      throw error;
    }
  };

  return {
    write: (work, signal) =>
      patiently(() => transaction('begin immediate', work), { failed, signal }),
    read: (work, signal) => patiently(() => transaction('begin', work), { failed, signal }),
    all,
    one: <Row>(sql: string, parameters: Parameters) => all<Row>(sql, parameters)[0],
    run,
    patiently: (work, signal) => patiently(work, { failed, signal }),
    failed,
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      statements.clear();
      opened.close();
    },
  };
}

function prepared(open: () => LibsqlDatabase): LibsqlDatabase {
  const database = open();
  try {
    for (const pragma of PRAGMAS) database.prepare(`pragma ${pragma}`).all([]);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The driver may have rolled back already, as it does when the disk is full. */
function rollBack(database: LibsqlDatabase): void {
  try {
    database.exec('rollback');
  } catch {}
}

async function patiently<T>(
  work: () => T | Promise<T>,
  options: { readonly failed: (error: unknown) => AgentError; readonly signal?: AbortSignal },
): Promise<T> {
  const started = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    options.signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const isLate = performance.now() - started > PATIENCE_MS;
      if (!isBusy(error) || isLate) throw options.failed(error);
    }
    // Whoever waits longest asks most often; the jitter keeps two processes from meeting for ever.
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 2 + attempt));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** Makes an error of the driver one of ours. */
function sqliteFailure(error: unknown, place: Place): AgentError {
  if (AgentError.is(error)) return error;
  const code = codeOf(error);
  if (isBusy(error)) return storeUnreachable(place, error);
  if (/no such (table|column)/.test(textOf(error))) {
    return storeNotMigrated(place, [textOf(error)]);
  }
  const seen = `${place.name}: ${textOf(error)}${code === '' ? '' : ` (${code})`}`;
  return storeFailed(`The store failed: ${seen}.`, MENDS[code] ?? place.check, error);
}

const MENDS: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'The disk is full: make room, then send the same again. Nothing of it was written.',
  SQLITE_READONLY: 'Make the file and its folder writable for this process.',
  SQLITE_NOTADB: 'Name another file: this one is not a SQLite database, and it was left as it is.',
  SQLITE_CORRUPT: 'The file is damaged: restore it from a backup.',
  SQLITE_IOERR: 'The disk reported an error: check it, and that the folder is on a local disk.',
};
