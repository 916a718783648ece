import { AgentError } from '@hexagent/agent-core';
import type pg from 'pg';
import { type Place, storeFailed, storeNotMigrated, storeUnreachable, textOf } from '../failure.ts';
import { onAbort } from './on-abort.ts';
import type { PgModule } from './pg.ts';
import { REFUSED, type Statement } from './statement.ts';

export type RunOptions = {
  readonly signal: AbortSignal;
  /** Unique keys (without the prefix) on which the statement meets a faster writer: it is run again. */
  readonly retryOn?: readonly string[];
  /** Makes an error of what the statement itself refused; `reason` is what it quoted. */
  readonly refused?: (reason: string) => Error;
  /** Makes an error of a broken unique key; `key` is its name without the prefix. */
  readonly taken?: (key: string) => Error | undefined;
};

/** A pool of connections. */
export interface PostgresDatabase {
  /** Runs one statement: one round trip, one transaction. */
  run<Row>(statement: Statement, options: RunOptions): Promise<readonly Row[]>;
  failed(error: unknown): AgentError;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize: number;
  readonly isNamed: boolean;
  readonly prefix: string;
  readonly place: Place;
  /** Runs before the first statement. */
  readonly ready: () => Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 60_000;
/** How often a statement is run again after a deadlock or a faster writer. */
const ATTEMPTS = 10;

const INT8 = 20;

/** How every connection of a store is made. */
export function connectionOptions({ default: pg }: PgModule, url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'hexagent',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: {
      // Sequence numbers stay below 2^53, so a number holds every one of them.
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as never,
    },
  };
}

/**
 * Settings of a connection that plans each statement once. A pooler in front may refuse settings, and
 * gives a statement to any connection: there they are left out, with the names of statements.
 */
const NAMED_SETTINGS =
  '-c plan_cache_mode=force_generic_plan -c jit=off -c default_transaction_isolation=read\\ committed';

export function postgresDatabase(module: PgModule, options: DatabaseOptions): PostgresDatabase {
  const { poolSize, isNamed, place, prefix } = options;
  const failed = (error: unknown): AgentError => postgresFailure(error, place);
  const pool = new module.default.Pool({
    ...connectionOptions(module, options.url),
    ...(isNamed ? { options: NAMED_SETTINGS } : {}),
    max: poolSize,
  });
  // An idle connection that breaks is left by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  let isReady = false;
  let ending: Promise<void> | undefined;

  const ready = async (): Promise<void> => {
    if (isReady) return;
    await options.ready();
    isReady = true;
  };
  const attempt = async <Row extends object>(
    { text, values, name }: Statement,
    run: RunOptions,
  ): Promise<readonly Row[]> => {
    for (let left = ATTEMPTS; ; left -= 1) {
      try {
        const query = isNamed ? { name, text, values: [...values] } : { text, values: [...values] };
        return (await untilAborted(pool.query<Row>(query), run.signal)).rows;
      } catch (error) {
        const key = takenKey(error, prefix);
        const again = isCollision(error) || (key !== undefined && run.retryOn?.includes(key));
        if (again && left > 1) continue;
        throw refusal(error, run) ?? (key === undefined ? undefined : run.taken?.(key)) ?? error;
      }
    }
  };
  return {
    pool,
    failed,
    run: async <Row>(statement: Statement, run: RunOptions) => {
      run.signal.throwIfAborted();
      try {
        await ready();
        return (await attempt<Row & object>(statement, run)) as readonly Row[];
      } catch (error) {
        if (run.signal.aborted && error === run.signal.reason) throw error;
        throw failed(error);
      }
    },
    close: () => {
      ending ??= pool.end();
      return ending;
    },
  };
}

/** Rejects with the signal's reason; what was sent may still be applied. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(leave);
  });
}

function fieldOf(error: unknown, field: 'code' | 'constraint'): string {
  if (!(error instanceof Error) || !(field in error)) return '';
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}

function takenKey(error: unknown, prefix: string): string | undefined {
  if (fieldOf(error, 'code') !== '23505') return undefined;
  const constraint = fieldOf(error, 'constraint');
  return constraint.startsWith(prefix) ? constraint.slice(prefix.length) : constraint;
}

/** A deadlock, or a serialization failure where the database is set to be strict. */
function isCollision(error: unknown): boolean {
  return ['40P01', '40001'].includes(fieldOf(error, 'code'));
}

function refusal(error: unknown, { refused }: RunOptions): Error | undefined {
  if (fieldOf(error, 'code') !== '22P02') return undefined;
  const [, reason] = new RegExp(`"${REFUSED}([a-z]+)"`).exec(textOf(error)) ?? [];
  return reason === undefined ? undefined : refused?.(reason);
}

/** SQLSTATEs (whole or class) of a server that is not there now. */
const UNREACHABLE = /^(08|57P0[1-5]|53300|57014|25006|72000)/;
/** Codes of the sockets, and of the resolver. */
const NETWORK =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN|ENOENT|EACCES)/;
/** What pg says in words only. */
const CONNECTION_LOST =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|not queryable|connection ended/i;

/** Makes an error of the driver or the server one of ours. */
export function postgresFailure(error: unknown, place: Place): AgentError {
  if (AgentError.is(error)) return error;
  const code = fieldOf(error, 'code') || innerCode(error);
  const text = textOf(error);
  if (UNREACHABLE.test(code) || NETWORK.test(code) || CONNECTION_LOST.test(text)) {
    return storeUnreachable(place, error);
  }
  if (/^(42P01|42703|3F000)$/.test(code)) return storeNotMigrated(place, [text]);
  const seen = code === '' ? text : `${text} (${code})`;
  return storeFailed(`The store failed: ${place.name}: ${seen}.`, mendOf(code, place), error);
}

function innerCode(error: unknown): string {
  return error instanceof AggregateError ? fieldOf(error.errors[0], 'code') : '';
}

function mendOf(code: string, place: Place): string {
  if (/^28/.test(code)) return 'Check user and password in the url of the store.';
  if (code === '3D000') return 'Create the database, or correct its name in the url of the store.';
  if (code === '53100') {
    return 'The disk of the database is full: make room, then send the same again. Nothing of it was written.';
  }
  if (code === '42501') return 'Grant the user of the url the rights on these tables.';
  if (code === '') return place.check;
  return 'Look at the log of the database. Nothing of it was written.';
}
