import type { RunId } from '@hexagent/agent-core';
import type { PostgresDatabase } from './database.ts';
import type { TableNames } from './table-names.ts';

/** What the facets of the store share. */
export type PostgresParts = {
  readonly database: PostgresDatabase;
  readonly names: TableNames;
  /** Says, soon, to whoever listens that a root's log has grown. */
  readonly grown: (rootRunId: RunId) => void;
  /** Says, soon, to workers that a run may have become claimable. */
  readonly claimable: () => void;
};
