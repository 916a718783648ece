import { storeDriverMissing } from '../failure.ts';

/** What this package uses of libsql, which has no types of its own: the interface of better-sqlite3. */
export interface LibsqlDatabase {
  prepare(sql: string): LibsqlStatement;
  exec(sql: string): void;
  close(): void;
}

export interface LibsqlStatement {
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): {
    readonly changes: number;
    readonly lastInsertRowid: number;
  };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

export type LibsqlModule = { readonly default: new (path: string) => LibsqlDatabase };

export type LoadModule = (name: string) => Promise<unknown>;

/** Loads the driver; a missing one fails with its install command. */
export async function loadLibsql(url: string, load: LoadModule): Promise<LibsqlModule> {
  try {
    return (await load('libsql')) as LibsqlModule;
  } catch (cause) {
    throw storeDriverMissing('libsql', url, cause);
  }
}
