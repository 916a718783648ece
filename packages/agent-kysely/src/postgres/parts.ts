import type { PostgresDatabase } from './database.ts';
import type { TableNames } from './table-names.ts';

/** What the facets of the store share. */
export type PostgresParts = {
  readonly database: PostgresDatabase;
  readonly names: TableNames;
  /** Where commits tell that a log has grown; absent when they do not. */
  readonly channel: string | undefined;
};
