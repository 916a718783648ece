import type { DurableStore } from '../../durable/durable-store.ts';

/** What the rules of the store need: a store, and a tenant in which they may write. */
export type StoreSubject = {
  readonly store: DurableStore;
  /** Every rule makes new runs, users, agents and namespaces, so a tenant may be used again. */
  readonly tenant: string;
  /** Names of `storeCapabilities` that this subject has. */
  readonly capabilities: readonly string[];
  /** Capability `clock`: moves the store's clock on, or really waits. */
  readonly advance?: (ms: number) => Promise<void>;
  /** Capability `second-connection`: the same data through another connection or process. */
  readonly another?: () => Promise<DurableStore>;
  /** Capability `held-lock`: takes the lock that a commit needs, from outside; answers how to give it back. */
  readonly hold?: () => Promise<() => Promise<void>>;
};

/** What `Rule.needs` may name in the store's kit. */
export const storeCapabilities = [
  'clock',
  'second-connection',
  'log-changed',
  'claimable-told',
  'log-prune',
  'held-lock',
] as const;
