import type { Message, Part } from '@hexagent/agent-core';
import { textOf } from '@hexagent/agent-core';
import { type JsonObject, type JsonValue, shortHash, wireName } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';
import { mediaContent } from './wire-media.ts';

type ToolCallPart = Extract<Part, { type: 'tool-call' }>;
type ReasoningPart = Extract<Part, { type: 'reasoning' }>;
type ToolResultPart = Extract<Part, { type: 'tool-result' }>;

/**
 * The messages of a request in the server's form, each as JSON text. A message that never changes is
 * written once: the text is kept beside it for as long as it lives.
 */
export function wireMessages(profile: ServerProfile): (messages: readonly Message[]) => string[] {
  const kept = new WeakMap<Message, string>();
  const written = (message: Message): string => {
    const known = kept.get(message);
    if (known !== undefined) return known;
    const text = JSON.stringify(spoken(message, profile));
    kept.set(message, text);
    return text;
  };
  return (messages) => {
    const wire: string[] = [];
    const ids = new Map<string, string>();
    let media: JsonValue[] = [];
    const flushMedia = (): void => {
      if (media.length > 0) wire.push(JSON.stringify({ role: 'user', content: media }));
      media = [];
    };
    for (const message of messages) {
      if (message.role === 'tool') {
        for (const part of message.parts) {
          if (part.type !== 'tool-result') continue;
          wire.push(JSON.stringify(resultMessage(part, ids.get(part.callId), profile)));
          media.push(...part.content.filter(isMedia).map(mediaContent));
        }
        continue;
      }
      flushMedia();
      if (message.role === 'assistant') noteIds(message, { ids, profile });
      wire.push(written(message));
    }
    flushMedia();
    return wire;
  };
}

function spoken(message: Message, profile: ServerProfile): JsonObject {
  if (message.role === 'assistant') return assistantMessage(message, profile);
  const isPlain = !message.parts.some(isMedia);
  return {
    role: message.role,
    content: isPlain ? textOf(message.parts) : message.parts.flatMap(contentParts),
  };
}

function contentParts(part: Part): readonly JsonObject[] {
  if (part.type === 'media') return [mediaContent(part)];
  const text = textOf([part]);
  return text === '' ? [] : [{ type: 'text', text }];
}

function assistantMessage(message: Message, profile: ServerProfile): JsonObject {
  const calls = message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const ids = callIds(calls, profile);
  const left = message.parts
    .filter(isMedia)
    .map(({ mediaType }) => `[${mediaType} left out]`)
    .join('');
  return {
    role: 'assistant',
    ...reasoningOf(message.parts, profile),
    // Not null: some chat templates fail on it.
    content: textOf(message.parts) + left,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ toolName, input }, index) => ({
            id: ids[index] ?? '',
            type: 'function',
            function: { name: wireName(toolName), arguments: JSON.stringify(input) },
          })),
        }),
  };
}

function noteIds(
  message: Message,
  into: { readonly ids: Map<string, string>; readonly profile: ServerProfile },
): void {
  const calls = message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  if (calls.length === 0) return;
  const wire = callIds(calls, into.profile);
  calls.forEach((call, index) => {
    into.ids.set(call.callId, wire[index] ?? '');
  });
}

/** The ids of one message on the wire: the provider's own where it gave any, and never one twice. */
function callIds(calls: readonly ToolCallPart[], profile: ServerProfile): readonly string[] {
  const used = new Set<string>();
  return calls.map(({ callId, providerCallId }) => {
    const wanted = idFor(providerCallId ?? callId, profile);
    const id = used.has(wanted) ? idFor(callId, profile) : wanted;
    used.add(id);
    return id;
  });
}

function idFor(id: string, { toolCallIds }: ServerProfile): string {
  if (toolCallIds === 'keep' || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return shortHash(id, 9);
}

function reasoningOf(parts: readonly Part[], profile: ServerProfile): JsonObject {
  const { reasoningReplay: field, name } = profile;
  if (field === 'none') return {};
  const own = parts.filter(
    (part): part is ReasoningPart =>
      part.type === 'reasoning' && (part.provider === undefined || part.provider.provider === name),
  );
  if (field === 'reasoning_details') {
    const details = own.flatMap(({ provider }) => {
      const value = provider?.value;
      return Array.isArray(value) ? value : [];
    });
    return details.length === 0 ? {} : { reasoning_details: details };
  }
  const text = own.map((part) => part.text).join('');
  return text === '' ? {} : { [field]: text };
}

function resultMessage(
  part: ToolResultPart,
  id: string | undefined,
  profile: ServerProfile,
): JsonObject {
  const text = textOf(part.content);
  return {
    role: 'tool',
    tool_call_id: id ?? idFor(part.callId, profile),
    content: text === '' && part.outcome !== 'ok' ? OUTCOME_WORDS[part.outcome] : text,
  };
}

/** What the model reads where a call left no words of its own. */
const OUTCOME_WORDS: Readonly<Record<ToolResultPart['outcome'], string>> = {
  ok: '',
  error: 'The tool failed.',
  denied: 'The call was denied.',
  interrupted: 'The call was interrupted; whether it took effect is not known.',
};

function isMedia(part: Part): part is Extract<Part, { type: 'media' }> {
  return part.type === 'media';
}
