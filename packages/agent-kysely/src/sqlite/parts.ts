import type { Instant } from '@hexagent/agent-core';
import type { SqliteConnection } from './connection.ts';
import type { SqliteStatements } from './statements.ts';

/** What the facets of the store share. */
export type SqliteParts = {
  readonly connection: SqliteConnection;
  readonly statements: SqliteStatements;
  /** The store's clock: the machine's, since every process of a file runs on one machine. */
  readonly now: () => Instant;
};
