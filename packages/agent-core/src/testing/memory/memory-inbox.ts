import type { RunId } from '../../base/ids.ts';
import { rootOf } from '../../base/ids.ts';
import type { ResolveResult, RunInbox } from '../../durable/run-inbox.ts';
import { isControl, type RunSignal } from '../../vocabulary/signal.ts';
import type { Wait, WaitRecord } from '../../vocabulary/wait.ts';
import { frozenCopy } from './frozen-copy.ts';
import { type MemoryRoot, type MemoryState, tellWorkers } from './memory-state.ts';

/** The inbox and the waits, as outsiders write them. */
export function memoryInbox(state: MemoryState): RunInbox {
  return {
    append: async (rootRunId, signal, { signal: abort }) => {
      abort.throwIfAborted();
      const root = state.roots.get(rootRunId);
      if (root === undefined) return 'terminal';
      const answer = appendSignal(root, signal, state.clock.now());
      tellWorkers(state, root);
      return answer;
    },
    resolve: async (waitId, answer, { signal }): Promise<ResolveResult> => {
      signal.throwIfAborted();
      const root = state.roots.get(rootOf(waitId));
      const wait = root?.waits.get(waitId);
      if (root === undefined || wait === undefined) return { kind: 'unknown' };
      const now = state.clock.now();
      if (wait.status !== 'pending') return { kind: 'already', wait: shownWait(wait) };
      if (wait.digest !== answer.digest) return { kind: 'digest-mismatch' };
      if (!wait.allowed.includes(answer.decision)) return { kind: 'not-allowed' };
      if (wait.expiresAt !== undefined && wait.expiresAt <= now) return { kind: 'expired' };
      const { decision, resolution, by: resolvedBy } = answer;
      const resolved: WaitRecord = {
        ...wait,
        status: 'resolved',
        decision,
        resolvedBy,
        resolution,
      };
      root.waits.set(waitId, frozenCopy(resolved));
      const wakeUp = { kind: 'approval-decision', payload: { waitId } } as const;
      appendSignal(root, { ...wakeUp, dedupeKey: `resolved:${waitId}` }, now);
      tellWorkers(state, root);
      return { kind: 'resolved', rootRunId: root.rootRunId };
    },
    pending: async (rootRunId, { signal }) => {
      signal.throwIfAborted();
      return unread(state, rootRunId);
    },
  };
}

/** The dedupe key is looked for first: a receipt that was lost is given again, also after the end. */
export function appendSignal(
  { inbox }: MemoryRoot,
  signal: Omit<RunSignal, 'seq' | 'at'>,
  at: number,
): 'appended' | 'duplicate' | 'terminal' {
  const known = inbox.signals[(inbox.keys.get(signal.dedupeKey) ?? 0) - 1];
  if (known?.signal.dedupeKey === signal.dedupeKey) return 'duplicate';
  if (inbox.closed) return 'terminal';
  const stored = frozenCopy({ ...signal, seq: inbox.signals.length + 1, at });
  inbox.signals.push({ signal: stored, consumed: false });
  inbox.keys.set(signal.dedupeKey, stored.seq);
  if (isControl(signal.kind)) inbox.control.push(stored.seq);
  return 'appended';
}

/** A wait without its answer. */
export function shownWait({ resolution: _, ...wait }: WaitRecord): Wait {
  return wait;
}

function unread(state: MemoryState, rootRunId: RunId): readonly RunSignal[] {
  const signals = state.roots.get(rootRunId)?.inbox.signals ?? [];
  return signals.filter(({ consumed }) => !consumed).map(({ signal }) => signal);
}
