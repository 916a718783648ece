import { definePort, type Port } from '../base/port.ts';
import type { ConversationStore } from './conversation-store.ts';
import type { EventLog } from './event-log.ts';
import type { RunInbox } from './run-inbox.ts';
import type { RunOwnership } from './run-ownership.ts';
import type { RunRecords } from './run-records.ts';
import type { ValueStore } from './value-store.ts';

/** Everything durable about runs, in one port: six ports could not be atomic. */
export interface DurableStore {
  readonly ownership: RunOwnership;
  readonly inbox: RunInbox;
  readonly log: EventLog;
  readonly records: RunRecords;
  readonly conversations: ConversationStore;
  readonly values: ValueStore;
  /** How often events alone are committed, in milliseconds; absent: never by time. */
  readonly liveFlushMs?: number;
}

export const Durability: Port<DurableStore> = definePort<DurableStore>('durability');

/** The edition of what is stored; a store answers it with every record. */
export const FORMAT = 1;
