import type { Message } from '../vocabulary/message.ts';
import { opened } from './keeping.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunSetup } from './run-setup.ts';

/** How many settled turns a run sees of its conversation. */
const TURNS = 50;

/**
 * What was said before: the client's own history when it sends one (then nothing is read and no turn is
 * written), else the settled turns of the conversation. The stored history is never rewritten.
 */
export async function loadHistory(setup: RunSetup, facts: RunFacts): Promise<readonly Message[]> {
  const { history, conversationId } = facts.input;
  if (history !== undefined && history.length > 0) return history;
  if (setup.store === undefined || conversationId === undefined || !facts.definition.durable)
    return [];
  const turns = await setup.store.conversations.turns(conversationId, {
    scope: facts.principal.scope,
    last: TURNS,
    signal: new AbortController().signal,
  });
  const messages: Message[] = [];
  for (const { runId, messages: kept } of turns) {
    if (runId === facts.runId) continue;
    for (const [index, message] of kept.entries()) {
      messages.push(
        await opened(message, { sealer: setup.sealer, boundTo: `${runId}.m${index + 1}` }),
      );
    }
  }
  return settled(messages);
}

/** A history that every provider takes: a call without a result gets an `interrupted` one, on this copy only. */
function settled(messages: readonly Message[]): readonly Message[] {
  const answered = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'tool-result') answered.add(part.callId);
  return messages.flatMap((message) => {
    const open = message.parts.flatMap((part) =>
      part.type === 'tool-call' && !answered.has(part.callId) ? [part.callId] : [],
    );
    const synthetic = open.map(
      (callId): Message => ({
        role: 'tool',
        origin: 'framework',
        parts: [
          {
            type: 'tool-result',
            callId,
            outcome: 'interrupted',
            content: [{ type: 'text', text: 'Interrupted.' }],
          },
        ],
      }),
    );
    return [message, ...synthetic];
  });
}
