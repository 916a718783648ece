import type { Resolution } from '../tools/tool.ts';
import type { WaitKind, WaitResolution } from '../vocabulary/wait.ts';

/** What a tool itself can wait for. */
export const SUSPENDED_KINDS: readonly WaitKind[] = ['event', 'timer', 'auth', 'input'];

/** What a suspended tool is told about an answer: a value, or that nobody will give one. */
export function resolutionOf(answer: WaitResolution): Resolution {
  if (answer.decision === 'answer') return { kind: 'resolved', value: answer.value };
  return { kind: 'declined', ...(answer.comment === undefined ? {} : { reason: answer.comment }) };
}

/** What it is told when its time is over: for a timer that is the very thing it waited for. */
export function expiredResolution(kind: WaitKind): Resolution {
  return kind === 'timer' ? { kind: 'resolved', value: null } : { kind: 'expired' };
}
