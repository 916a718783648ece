import type { AssistantMessage, Message, ToolCall } from '@ag-ui/core';
import type { Owner } from './attribution.ts';
import { attributed } from './attribution.ts';

/**
 * The messages that the client has, kept by the same rules as its own reducer: what is sent next can be held against it, and a
 * `MESSAGES_SNAPSHOT` can be written at any moment. Activities are not part of it: they never come back from a client.
 */
export class Transcript {
  readonly #messages = new Map<string, Message>();
  readonly #calls = new Map<string, { readonly call: ToolCall; readonly messageId: string }>();

  constructor(messages: readonly Message[]) {
    for (const message of messages) {
      if (message.role === 'activity') continue;
      const own = copied(message);
      this.#messages.set(own.id, own);
      if (own.role !== 'assistant') continue;
      for (const call of own.toolCalls ?? []) this.#calls.set(call.id, { call, messageId: own.id });
    }
  }

  has(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  get(messageId: string): Message | undefined {
    return this.#messages.get(messageId);
  }

  hasCall(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** A copy that nobody changes afterwards. */
  all(): Message[] {
    return [...this.#messages.values()].map(copied);
  }

  /** In the order that the client shows them in. */
  ids(): readonly string[] {
    return [...this.#messages.keys()];
  }

  text(messageId: string, delta: string, owner: Owner): void {
    const message = this.#assistant(messageId, owner);
    message.content = `${message.content ?? ''}${delta}`;
  }

  reasoning(messageId: string, delta: string, owner: Owner): void {
    const message = this.#messages.get(messageId);
    if (message?.role === 'reasoning') message.content += delta;
    else
      this.#messages.set(messageId, {
        id: messageId,
        role: 'reasoning',
        content: delta,
        ...attributed(owner),
      });
  }

  call(
    callId: string,
    {
      name,
      messageId,
      owner,
    }: { readonly name: string; readonly messageId: string; readonly owner: Owner },
  ): void {
    const call: ToolCall = { id: callId, type: 'function', function: { name, arguments: '' } };
    const message = this.#assistant(messageId, owner);
    if (message.toolCalls === undefined) message.toolCalls = [call];
    else message.toolCalls.push(call);
    this.#calls.set(callId, { call, messageId });
  }

  arguments(callId: string, delta: string): void {
    const known = this.#calls.get(callId);
    if (known !== undefined) known.call.function.arguments += delta;
  }

  put(message: Message): void {
    this.#messages.set(message.id, message);
  }

  remove(messageIds: readonly string[]): void {
    for (const messageId of messageIds) {
      const message = this.#messages.get(messageId);
      if (message?.role === 'assistant')
        for (const { id } of message.toolCalls ?? []) this.#calls.delete(id);
      this.#messages.delete(messageId);
    }
    // A client keeps its reasoning when a snapshot has none: what is to go must then be said to be empty.
    if ([...this.#messages.values()].some(({ role }) => role === 'reasoning')) return;
    const withdrawn = messageIds.find((id) => id.endsWith(REASONING));
    if (withdrawn !== undefined) this.put({ id: withdrawn, role: 'reasoning', content: '' });
  }

  #assistant(messageId: string, owner: Owner): AssistantMessage {
    const known = this.#messages.get(messageId);
    if (known?.role === 'assistant') return known;
    const message: AssistantMessage = { id: messageId, role: 'assistant', ...attributed(owner) };
    this.#messages.set(messageId, message);
    return message;
  }
}

/** A message that grows apart from the one it was copied from: what only lies in it is shared. */
function copied(message: Message): Message {
  if (message.role !== 'assistant' || message.toolCalls === undefined) return { ...message };
  const toolCalls = message.toolCalls.map((call) => ({ ...call, function: { ...call.function } }));
  return { ...message, toolCalls };
}

/** How the id of a reasoning message ends; what stands before it is the id of the answer that it belongs to. */
export const REASONING = '.r';
