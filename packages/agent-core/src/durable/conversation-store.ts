import type { Stop } from '../base/abort.ts';
import type { RunId } from '../base/ids.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { Message } from '../vocabulary/message.ts';
import type { Scope } from '../vocabulary/scope.ts';
import type { RunSignal } from '../vocabulary/signal.ts';

/** A run that has ended, as other runs of its conversation see it. */
export type Turn = {
  readonly runId: RunId;
  readonly messages: readonly Kept<Message>[];
  /** Messages that the run was sent and ended without reading, in the order of their arrival; absent when there are none. */
  readonly unread?: readonly RunSignal[];
};

/** What a conversation remembers: settled turns only. */
export interface ConversationStore {
  /** The last so many settled turns, oldest first. An unknown or foreign conversation has none. */
  turns(
    conversationId: string,
    query: { readonly scope: Scope; readonly last: number } & Stop,
  ): Promise<readonly Turn[]>;
  /** Capability of a store that can read what it keeps: finds only `plain` messages. */
  search?(
    text: string,
    query: { readonly scope: Scope; readonly limit: number } & Stop,
  ): Promise<readonly { readonly runId: RunId; readonly message: Message }[]>;
}
