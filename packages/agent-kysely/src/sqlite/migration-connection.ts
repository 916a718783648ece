import { Kysely, SqliteAdapter, SqliteDialect } from 'kysely';
import type { LibsqlDatabase } from './libsql.ts';

/**
 * A connection whose migrations are one transaction. It takes the write lock when it begins, so of two
 * processes that migrate at once the second finds nothing left to do.
 */
export function migrationConnection(
  shared: LibsqlDatabase | undefined,
  open: () => LibsqlDatabase,
): Kysely<unknown> {
  const database = shared ?? open();
  database.prepare('pragma busy_timeout = 5').all([]);
  const handle = {
    prepare: (text: string) => database.prepare(text === 'begin' ? 'begin immediate' : text),
    close: () => {
      if (shared === undefined) database.close();
    },
  };
  return new Kysely<unknown>({ dialect: new MigrationDialect({ database: handle }) });
}

class MigrationDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
