import type { DurableStore, Migrator } from '@hexagent/agent-core';

/** A store that is open. */
export type OpenedStore = {
  readonly store: DurableStore;
  readonly migrator: Migrator;
  /** Frees every connection; safe to call twice. */
  close(): Promise<void>;
};
