import type { ContentPart, Message as WireMessage } from '@ag-ui/core';
import {
  callIdOf,
  isJsonObject,
  type JsonObject,
  type Message,
  type Part,
} from '@hexagent/agent-core';
import { isAbsent } from './checks.ts';

/** The parts of a client's content. */
export function partsOf(content: string | readonly ContentPart[]): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part): Part => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const { source } = part;
    const mediaType = source.mimeType ?? ANY_OF[part.type];
    return source.type === 'data'
      ? { type: 'media', mediaType, source: { kind: 'inline', base64: source.value } }
      : { type: 'media', mediaType, source: { kind: 'url', url: source.value } };
  });
}

/** Of media whose exact type a client does not name. */
const ANY_OF: Readonly<Record<Exclude<ContentPart['type'], 'text'>, string>> = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  document: 'application/octet-stream',
};

/**
 * What a client kept of a conversation, for an agent that keeps none. System and developer messages are the agent's own affair,
 * reasoning and activities are for eyes only, and what nested runs have said is in the results of their calls: none of them is taken.
 */
export function historyOf(messages: readonly WireMessage[]): readonly Message[] {
  return messages.flatMap((message): readonly Message[] => {
    if (isNested(message)) return [];
    switch (message.role) {
      case 'user':
        return [{ role: 'user', origin: 'user', parts: partsOf(message.content) }];
      case 'assistant': {
        const parts = answerParts(message);
        return parts.length === 0 ? [] : [{ role: 'assistant', origin: 'model', parts }];
      }
      case 'tool':
        return [{ role: 'tool', origin: 'tool', parts: [resultPart(message)] }];
      default:
        return [];
    }
  });
}

function isNested(message: WireMessage): boolean {
  return 'subagentRunId' in message && !isAbsent(message.subagentRunId);
}

function answerParts({
  content,
  toolCalls = [],
}: Extract<WireMessage, { role: 'assistant' }>): readonly Part[] {
  const text: readonly Part[] =
    content === undefined || content === null || content === ''
      ? []
      : [{ type: 'text', text: content }];
  const calls = toolCalls.map(
    (call): Part => ({
      type: 'tool-call',
      callId: callIdOf(call.id),
      toolName: call.function.name,
      input: argumentsOf(call.function.arguments),
    }),
  );
  return [...text, ...calls];
}

function resultPart(message: Extract<WireMessage, { role: 'tool' }>): Part {
  return { type: 'tool-result', callId: callIdOf(message.toolCallId), ...resultOf(message) };
}

/** What a client says that a tool gave. */
export function resultOf({ content, error }: Extract<WireMessage, { role: 'tool' }>): {
  readonly outcome: 'ok' | 'error';
  readonly content: readonly Part[];
} {
  const parts = partsOf(content);
  if (error === undefined || error === null) return { outcome: 'ok', content: parts };
  const said = parts.some((part) => part.type !== 'text' || part.text !== '');
  return { outcome: 'error', content: [{ type: 'text', text: error }, ...(said ? parts : [])] };
}

function argumentsOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
