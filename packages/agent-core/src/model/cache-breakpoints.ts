import type { Message } from '../vocabulary/message.ts';

/**
 * Where a prompt is worth keeping, as indices into its messages: after the system message, which many runs share; after
 * what was settled before the newest turn, which the next turn shares; after the last message, which the next step shares.
 * In order, each once, three at most (providers take up to four).
 */
export function cacheBreakpoints(messages: readonly Message[]): readonly number[] {
  const system = messages.findIndex(({ role }) => role !== 'system');
  const ends = [
    (system === -1 ? messages.length : system) - 1,
    messages.findLastIndex(beginsTurn) - 1,
    messages.length - 1,
  ];
  return [...new Set(ends)].filter((end) => end >= 0);
}

/** What the framework says by itself belongs to the turn that it speaks in. */
function beginsTurn({ role, origin }: Message): boolean {
  return role === 'user' && origin === 'user';
}
