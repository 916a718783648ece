import type { Message, Part } from '@hexagent/agent-core';
import { textOf } from '@hexagent/agent-core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  shortHash,
  wireName,
} from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';
import { mediaContent } from './wire-media.ts';

type ToolCallPart = Extract<Part, { type: 'tool-call' }>;
type ReasoningPart = Extract<Part, { type: 'reasoning' }>;
type ToolResultPart = Extract<Part, { type: 'tool-result' }>;

/** Writes messages; `marks` are the indices of those after which the prompt is to be kept, with the mark itself. */
export type MessageWriter = (
  messages: readonly Message[],
  marks?: { readonly at: readonly number[]; readonly mark: JsonObject },
) => string[];

/**
 * The messages of a request in the server's form, each as JSON text. A message that never changes is
 * written once: the text is kept beside it for as long as it lives.
 */
export function wireMessages(profile: ServerProfile): MessageWriter {
  const kept = new WeakMap<Message, string>();
  const written = (message: Message): string => {
    const known = kept.get(message);
    if (known !== undefined) return known;
    const text = JSON.stringify(spoken(message, profile));
    kept.set(message, text);
    return text;
  };
  return (messages, marks) => {
    const marked = marks === undefined ? [] : markedMessages(messages, marks.at);
    const wire: string[] = [];
    const ids = new Map<string, string>();
    let media: JsonValue[] = [];
    const flushMedia = (): void => {
      if (media.length > 0) wire.push(JSON.stringify({ role: 'user', content: media }));
      media = [];
    };
    for (const [index, message] of messages.entries()) {
      if (message.role === 'tool') {
        for (const part of message.parts) {
          if (part.type !== 'tool-result') continue;
          wire.push(JSON.stringify(resultMessage(part, ids.get(part.callId), profile)));
          media.push(...part.content.filter(isMedia).map((each) => mediaContent(each, profile)));
        }
        continue;
      }
      flushMedia();
      if (message.role === 'assistant') noteIds(message, { ids, profile });
      wire.push(
        marks !== undefined && marked.includes(index)
          ? JSON.stringify(markedMessage(message, marks.mark, profile))
          : written(message),
      );
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
    content: isPlain
      ? textOf(message.parts)
      : message.parts.flatMap((part) => contentParts(part, profile)),
  };
}

/** A mark stands on a part of a system or user message: from elsewhere it moves back to the nearest of those. */
function markedMessages(messages: readonly Message[], at: readonly number[]): readonly number[] {
  return at.map((mark) =>
    messages.findLastIndex(
      ({ role, parts }, index) =>
        index <= mark && (role === 'system' || role === 'user') && textOf(parts) !== '',
    ),
  );
}

function markedMessage(message: Message, mark: JsonObject, profile: ServerProfile): JsonObject {
  const parts = message.parts.flatMap((part) => contentParts(part, profile));
  return {
    role: message.role,
    content: parts.map((part, index) => (index === parts.length - 1 ? { ...part, ...mark } : part)),
  };
}

function contentParts(part: Part, profile: ServerProfile): readonly JsonObject[] {
  if (part.type === 'media') return [mediaContent(part, profile)];
  const text = textOf([part]);
  return text === '' ? [] : [{ type: 'text', text }];
}

function assistantMessage(message: Message, profile: ServerProfile): JsonObject {
  const calls = message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const ids = callIds(calls, profile);
  const states = callStates(message.parts, profile);
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
            ...states[index],
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

/** What the server attached to each call of the turn, in their order; nothing from another provider. */
function callStates(
  parts: readonly Part[],
  { callState, name }: ServerProfile,
): readonly (JsonObject | undefined)[] {
  if (callState === 'none') return [];
  for (const part of parts) {
    if (part.type !== 'reasoning' || part.provider?.provider !== name) continue;
    const { value } = part.provider;
    const calls = isJsonObject(value) ? value['calls'] : undefined;
    if (!Array.isArray(calls)) continue;
    return calls.map((state) => (isJsonObject(state) ? { [callState]: state } : undefined));
  }
  return [];
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
