import type { Migrator, Stop } from '@hexagent/agent-core';
import { type Kysely, Migrator as KyselyMigrator, type Migration } from 'kysely';
import { formatUnknown, type Place } from './failure.ts';
import type { Naming } from './tables.ts';

export type MigratorOptions = {
  /** Opens a connection of its own: a migration never shares a transaction with the store. */
  readonly connect: () => Promise<Kysely<unknown>>;
  readonly migrations: Readonly<Record<string, Migration>>;
  /** Names that stand in the migration table; none when there is no such table. */
  readonly applied: () => Promise<readonly string[]>;
  readonly naming: Naming;
  readonly place: Place;
  /** Runs again what only met a lock, and makes an error of the driver one of ours. */
  readonly patiently: <T>(work: () => Promise<T>, stop: Stop) => Promise<T>;
};

/** The Migrator of a store. Two that run at once apply each migration once. */
export function storeMigrator(options: MigratorOptions): Migrator {
  const names = Object.keys(options.migrations).sort();
  const pending = async ({ signal }: Stop): Promise<readonly string[]> => {
    signal.throwIfAborted();
    const applied = await options.applied();
    const newer = applied.filter((name) => !names.includes(name));
    if (newer.length > 0) {
      throw formatUnknown(options.place.name, `it has the migrations ${newer.join(', ')}`);
    }
    return names.filter((name) => !applied.includes(name));
  };
  return {
    name: '@hexagent/agent-kysely',
    pending,
    migrate: async (stop) => {
      if ((await pending(stop)).length === 0) return [];
      return options.patiently(() => migrateNow(options), stop);
    },
  };
}

async function migrateNow(options: MigratorOptions): Promise<readonly string[]> {
  const database = await options.connect();
  try {
    const { prefix, schema } = options.naming;
    const migrator = new KyselyMigrator({
      db: schema === undefined ? database : database.withSchema(schema),
      provider: { getMigrations: async () => ({ ...options.migrations }) },
      migrationTableName: `${prefix}migration`,
      migrationLockTableName: `${prefix}migration_lock`,
      ...(schema === undefined ? {} : { migrationTableSchema: schema }),
    });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    return (results ?? []).map(({ migrationName }) => migrationName);
  } finally {
    await database.destroy();
  }
}
