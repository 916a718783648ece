import type { Kysely, SelectQueryBuilder, sql } from 'kysely';
import type { TableName, Tables } from './tables.ts';

/** Any select over the tables, whose rows are `Row`. */
export type Select<Row> = SelectQueryBuilder<Tables, TableName, Row>;

/** How selects reach the database. */
export interface Reader {
  /** Builds queries; nothing runs through it. */
  readonly build: Kysely<Tables>;
  /** The `from` of a table, under its plain name. */
  from<T extends TableName>(table: T): T;
  all<Row>(query: Select<Row>, signal: AbortSignal): Promise<readonly Row[]>;
  /** The rows of several selects, as of one moment. Their order is not kept. */
  snapshot<Rows extends readonly unknown[]>(
    queries: { readonly [I in keyof Rows]: Select<Rows[I]> },
    signal: AbortSignal,
  ): Promise<{ readonly [I in keyof Rows]: readonly Rows[I][] }>;
  /** The store's clock inside a query. */
  readonly now: () => ReturnType<typeof sql<number>>;
}
