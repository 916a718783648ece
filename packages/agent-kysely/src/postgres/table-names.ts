import { type Naming, quoted, TABLE_NAMES, type TableName } from '../tables.ts';

/** The quoted name of every table. */
export type TableNames = Readonly<Record<TableName, string>>;

export function tableNames(naming: Naming): TableNames {
  return Object.fromEntries(
    TABLE_NAMES.map((table) => [table, quoted(naming, table)]),
  ) as TableNames;
}
