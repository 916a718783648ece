import type { RunId } from '../../base/ids.ts';
import type { StoredMessage } from '../../durable/commit.ts';
import type { ConversationStore, Turn } from '../../durable/conversation-store.ts';
import { isControl, type RunSignal } from '../../vocabulary/signal.ts';
import { type MemoryState, placeOf, sees } from './memory-state.ts';

/** What a conversation remembers: settled turns only. */
export function memoryConversations(state: MemoryState): ConversationStore {
  return {
    turns: async (conversationId, { scope, last, signal }) => {
      signal.throwIfAborted();
      const { tenantId } = scope;
      const conversation = state.conversations.get(placeOf(tenantId, conversationId));
      if (conversation === undefined) return [];
      const { userId, turns } = conversation;
      const owner = userId === undefined ? { tenantId } : { tenantId, userId };
      if (!sees(scope, owner)) return [];
      const from = Math.max(0, turns.length - last);
      return turns.slice(from).map((runId): Turn => {
        const messages = state.roots.get(runId)?.messages ?? [];
        const own = messages.filter((row) => row.runId === runId);
        const unread = unreadOf(state, runId);
        return {
          runId,
          messages: standing(own).map(({ message }) => message),
          ...(unread.length === 0 ? {} : { unread }),
        };
      });
    },
  };
}

function unreadOf(state: MemoryState, runId: RunId): readonly RunSignal[] {
  const signals = state.roots.get(runId)?.inbox.signals ?? [];
  return signals.flatMap(({ signal, consumed }) =>
    consumed || isControl(signal.kind) ? [] : [signal],
  );
}

/** A digest stands where the messages that it replaces stood. */
function standing(rows: readonly StoredMessage[]): readonly StoredMessage[] {
  const digests = rows.filter(({ replaces }) => replaces !== undefined);
  const isReplaced = (row: StoredMessage): boolean =>
    digests.some(({ seq, replaces }) => {
      if (replaces === undefined || seq <= row.seq) return false;
      return replaces[0] <= row.seq && row.seq <= replaces[1];
    });
  const placeOfRow = ({ seq, replaces }: StoredMessage): number => replaces?.[0] ?? seq;
  return rows
    .filter((row) => !isReplaced(row))
    .sort((left, right) => placeOfRow(left) - placeOfRow(right));
}
