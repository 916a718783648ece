import type { ContentPart, Message, PartSource, ToolMessage } from '@ag-ui/core';
import {
  isJsonObject,
  type MediaPart,
  type Part,
  type ShownMessage,
  type ToolResultPart,
  textOf,
} from '@hexagent/agent-core';
import { REASONING } from './transcript.ts';

/** The field of a data part that holds what the application told beside the message; it is not part of what the user said. */
export const CONTEXT_FIELD = 'ag-ui.context';

/** Parts as the protocol has them: a text, or a list when there is more than text. */
export function contentOf(parts: readonly Part[]): string | ContentPart[] {
  const said = parts.filter((part) => !isContext(part));
  if (!said.some(({ type }) => type === 'media')) return textOf(said);
  return said.flatMap((part): ContentPart[] => {
    if (part.type === 'media') return mediaOf(part);
    const text = textOf([part]);
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

/**
 * Messages of one run as its clients have them. What the framework writes to the model (that an answer has to come again) is not
 * said by a user, and the answer that it refuses was taken back when it was shown.
 *
 * @param clientIds what clients call them, where they came from a client
 */
export function wireTranscript(
  messages: readonly ShownMessage[],
  clientIds?: ReadonlyMap<string, string>,
): Message[] {
  return messages.flatMap((shown, index) =>
    isOfFramework(shown) || isRefused(shown, messages[index + 1])
      ? []
      : wireMessages(shown, clientIds?.get(shown.messageId)),
  );
}

function isOfFramework({ message }: ShownMessage): boolean {
  return message.origin === 'framework';
}

function isRefused({ message }: ShownMessage, next: ShownMessage | undefined): boolean {
  const isAnswer =
    message.role === 'assistant' && !message.parts.some(({ type }) => type === 'tool-call');
  return isAnswer && next !== undefined && isOfFramework(next) && next.message.role === 'user';
}

/**
 * A message of a run as its clients have it: reasoning is a message of its own, before the answer that it belongs to.
 *
 * @param id what the client calls it, where it came from a client
 */
export function wireMessages(
  { messageId, message }: ShownMessage,
  id: string = messageId,
): Message[] {
  const { role, parts } = message;
  switch (role) {
    case 'user':
      return [{ id, role, content: contentOf(parts) }];
    case 'system':
      return [];
    case 'tool':
      return parts.flatMap((part) => (part.type === 'tool-result' ? [toolMessage(id, part)] : []));
    case 'assistant':
      return [...reasoningOf(parts, id), ...answerOf(parts, id)];
  }
}

/** A result as a message. Why a call failed is its content; that it did is said beside it. */
export function toolMessage(
  id: string,
  { callId, outcome, content }: Pick<ToolResultPart, 'callId' | 'outcome' | 'content'>,
): ToolMessage {
  return {
    id,
    role: 'tool',
    toolCallId: callId,
    content: contentOf(content),
    ...(outcome === 'ok' ? {} : { metadata: { hexagent: { outcome } } }),
  };
}

function reasoningOf(parts: readonly Part[], id: string): Message[] {
  const content = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
  return content === '' ? [] : [{ id: `${id}${REASONING}`, role: 'reasoning', content }];
}

function answerOf(parts: readonly Part[], id: string): Message[] {
  const content = textOf(parts);
  const toolCalls = parts.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: part.callId,
            type: 'function' as const,
            function: { name: part.toolName, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  if (content === '' && toolCalls.length === 0) return [];
  return [
    {
      id,
      role: 'assistant',
      ...(content === '' ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    },
  ];
}

function isContext(part: Part): boolean {
  return part.type === 'data' && isJsonObject(part.data) && Object.hasOwn(part.data, CONTEXT_FIELD);
}

/** A blob lies in a store of the server: a client cannot fetch it. */
function mediaOf({ mediaType, source }: MediaPart): ContentPart[] {
  if (source.kind === 'blob') return [{ type: 'text', text: `[${mediaType}]` }];
  const from: PartSource =
    source.kind === 'url'
      ? { type: 'url', value: source.url, mimeType: mediaType }
      : { type: 'data', value: source.base64, mimeType: mediaType };
  return [{ type: modalityOf(mediaType), source: from }];
}

function modalityOf(mediaType: string): 'image' | 'audio' | 'video' | 'document' {
  const [family] = mediaType.split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}
