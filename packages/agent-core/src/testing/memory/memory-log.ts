import type { EventLog } from '../../durable/event-log.ts';
import { pruneEvents } from './memory-prune.ts';
import { type MemoryState, woken } from './memory-state.ts';

/** What a run tree has shown; `changed` resolves with the next commit. */
export function memoryLog(state: MemoryState): EventLog {
  return {
    read: async (rootRunId, { after, limit, signal }) => {
      signal.throwIfAborted();
      const events = state.roots.get(rootRunId)?.events ?? [];
      return events.filter(({ lastSeq }) => lastSeq > after).slice(0, limit);
    },
    prune: async (rootRunId, { through, signal }) => {
      signal.throwIfAborted();
      const root = state.roots.get(rootRunId);
      return root === undefined ? 0 : pruneEvents(root, through);
    },
    changed: async (rootRunId, { after, signal }) => {
      signal.throwIfAborted();
      const root = state.roots.get(rootRunId);
      if (root === undefined || root.head.lastSeq > after) return;
      await woken(root.watchers, signal);
    },
  };
}
