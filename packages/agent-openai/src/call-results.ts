import { type Message, type ToolCallPart, type ToolResultPart, textOf } from '@hexagent/agent-core';

/** What the model reads where a call left no words of its own. */
const OUTCOME_WORDS: Readonly<Record<ToolResultPart['outcome'], string>> = {
  ok: '',
  error: 'The tool failed.',
  denied: 'The call was denied.',
  interrupted: 'The call was interrupted; whether it took effect is not known.',
};

/** What is said for a call that nothing is known of: the provider refuses a conversation with a call left open. */
export const NO_RESULT: string = OUTCOME_WORDS.interrupted;

export function resultText({ content, outcome }: ToolResultPart): string {
  const text = textOf(content);
  return text === '' ? OUTCOME_WORDS[outcome] : text;
}

export function callsOf({ parts }: Message): readonly ToolCallPart[] {
  return parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
}

/** The ids of calls on the wire: the provider's own where it gave any, and never one twice in one conversation. */
export class CallIds {
  readonly #byCall = new Map<string, string>();
  readonly #used = new Set<string>();

  /** Names the calls of one assistant message. */
  name(calls: readonly ToolCallPart[]): void {
    for (const { callId, providerCallId } of calls) {
      const wanted = providerCallId ?? callId;
      const id = this.#used.has(wanted) ? callId : wanted;
      this.#used.add(id);
      this.#byCall.set(callId, id);
    }
  }

  of(callId: string): string {
    return this.#byCall.get(callId) ?? callId;
  }
}

/** Calls of assistant messages for which no result follows anywhere, by their own id. */
export function openCalls(messages: readonly Message[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type === 'tool-call') open.add(part.callId);
      else if (part.type === 'tool-result') open.delete(part.callId);
    }
  }
  return open;
}
