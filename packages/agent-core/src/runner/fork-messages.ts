import { type CallId, callIdOf, type RunId } from '../base/ids.ts';
import type { Message, Part } from '../vocabulary/message.ts';

/**
 * Messages as another run may have them: every call has an id of that run (`{runId}.c1`, …), so nothing of the new run is
 * taken for a call of the one that they come from. Results keep their calls.
 */
export function rerooted(messages: readonly Message[], runId: RunId): readonly Message[] {
  const ids = new Map<CallId, CallId>();
  const idOf = (old: CallId): CallId => {
    const known = ids.get(old) ?? callIdOf(`${runId}.c${ids.size + 1}`);
    ids.set(old, known);
    return known;
  };
  const part = (given: Part): Part => {
    if (given.type === 'tool-call') return { ...given, callId: idOf(given.callId) };
    if (given.type !== 'tool-result') return given;
    return { ...given, callId: idOf(given.callId), content: given.content.map(part) };
  };
  return messages.map((message) => ({ ...message, parts: message.parts.map(part) }));
}
