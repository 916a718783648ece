import { type Clock, systemClock } from '../base/clock.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { memoryConversations } from './memory/memory-conversations.ts';
import { memoryInbox } from './memory/memory-inbox.ts';
import { memoryLog } from './memory/memory-log.ts';
import { memoryOwnership } from './memory/memory-ownership.ts';
import { memoryRecords } from './memory/memory-records.ts';
import { type MemoryState, memoryState } from './memory/memory-state.ts';
import { memoryValues } from './memory/memory-values.ts';

export type MemoryStoreOptions = {
  /** The store's clock: leases, expiry, timers. Default: the platform's. */
  readonly clock?: Clock;
  readonly liveFlushMs?: number;
};

/**
 * A store that lives and dies with its process, for tests and demonstrations. It keeps every promise
 * of `DurableStore` but durability, and passes the whole of `storeContract`.
 */
export function memoryStore({
  clock = systemClock,
  ...options
}: MemoryStoreOptions = {}): DurableStore {
  return storeOver(memoryState(clock), options);
}

/** The ports over one state; a second one over the same state is a second connection. */
export function storeOver(
  state: MemoryState,
  { liveFlushMs }: Pick<MemoryStoreOptions, 'liveFlushMs'> = {},
): DurableStore {
  return {
    ownership: memoryOwnership(state),
    inbox: memoryInbox(state),
    log: memoryLog(state),
    records: memoryRecords(state),
    conversations: memoryConversations(state),
    values: memoryValues(state),
    ...(liveFlushMs === undefined ? {} : { liveFlushMs }),
  };
}
