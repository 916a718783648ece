import type { CallId } from '../base/ids.ts';
import type { Message, Part } from '../vocabulary/message.ts';
import { type Inherited, messageIn } from './conversation-lane.ts';
import { opened } from './keeping.ts';
import type { RunFacts } from './run-facts.ts';
import type { RunSetup } from './run-setup.ts';

/** How many settled turns a run sees of its conversation. */
const TURNS = 50;

/** What a run goes on from. */
export type Conversation = {
  readonly messages: readonly Message[];
  /** What the run right before this one was sent and did not read; part of `messages`. */
  readonly inherited?: Inherited;
};

/**
 * What was said before: the client's own history when it sends one (then nothing is read and no turn is
 * written), else the settled turns of the conversation, each with the messages that its run ended without
 * reading, so they stand before the input of the run behind it. The stored history is never rewritten.
 */
export async function loadConversation(setup: RunSetup, facts: RunFacts): Promise<Conversation> {
  const { history, conversationId } = facts.input;
  if (history !== undefined && history.length > 0) return { messages: settledHistory(history) };
  if (setup.store === undefined || conversationId === undefined || !facts.definition.durable)
    return { messages: [] };
  const turns = await setup.store.conversations.turns(conversationId, {
    scope: facts.principal.scope,
    last: TURNS,
    signal: new AbortController().signal,
  });
  const messages: Message[] = [];
  for (const { runId, messages: kept, unread = [] } of turns) {
    for (const [index, message] of kept.entries()) {
      messages.push(
        await opened(message, { sealer: setup.sealer, boundTo: `${runId}.m${index + 1}` }),
      );
    }
    messages.push(...unread.map(messageIn));
  }
  const last = turns.at(-1);
  return {
    messages: settledHistory(messages),
    ...(last?.unread === undefined
      ? {}
      : { inherited: { runId: last.runId, signals: last.unread } }),
  };
}

/** What was said before in the conversation of a run. */
export async function loadHistory(setup: RunSetup, facts: RunFacts): Promise<readonly Message[]> {
  return (await loadConversation(setup, facts)).messages;
}

/**
 * A history that every provider takes, on this copy only: behind every answer the results of its calls, in
 * call order; a call without one gets an `interrupted` one, a result without its call is left out.
 */
export function settledHistory(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(isOfCalls)) return messages;
  const results = resultsIn(messages);
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [];
    const calls = message.parts.filter((part) => part.type === 'tool-call');
    return [message, ...calls.map(({ callId }) => results.get(callId) ?? interrupted(callId))];
  });
}

function isOfCalls({ role, parts }: Message): boolean {
  return role === 'tool' || parts.some(({ type }) => type === 'tool-call');
}

function resultsIn(messages: readonly Message[]): ReadonlyMap<CallId, Message> {
  const results = new Map<CallId, Message>();
  for (const message of messages)
    for (const part of message.parts)
      if (part.type === 'tool-result') results.set(part.callId, { ...message, parts: [part] });
  return results;
}

function interrupted(callId: CallId): Message {
  const content: readonly Part[] = [{ type: 'text', text: 'Interrupted.' }];
  return {
    role: 'tool',
    origin: 'framework',
    parts: [{ type: 'tool-result', callId, outcome: 'interrupted', content }],
  };
}
