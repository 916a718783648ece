import {
  type MediaPart,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from '@hexagent/agent-core';
import { wireName } from '@hexagent/agent-core/adapter';
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { CallIds, callsOf, NO_RESULT, openCalls, resultText } from '../call-results.ts';
import { CACHE_MARK } from '../prompt-cache.ts';
import { noPlace, wireMedia } from '../wire-media.ts';

type TextPart = Extract<ChatCompletionContentPart, { type: 'text' }>;
type Block = { prompt_cache_breakpoint?: { mode: 'explicit' } };

/** The messages of a request in the form of chat completions, with a mark after the messages of `breakpoints`. */
export function chatMessages(
  messages: readonly Message[],
  breakpoints: readonly number[],
): ChatCompletionMessageParam[] {
  const writer = new MessageWriter(openCalls(messages), breakpoints.length > 0);
  messages.forEach((message, index) => {
    writer.write(message, index);
  });
  writer.flush();
  for (const breakpoint of breakpoints) writer.mark(breakpoint);
  return writer.wire;
}

class MessageWriter {
  readonly wire: ChatCompletionMessageParam[] = [];
  readonly #ids = new CallIds();
  readonly #open: ReadonlySet<string>;
  /** A mark needs a list of blocks; without one a text is the form that every gateway reads. */
  readonly #isMarked: boolean;
  readonly #blocks: { readonly index: number; readonly block: Block }[] = [];
  /** Media of tool results, which have no place in them: they follow in a message of the user. */
  #media: ChatCompletionContentPart[] = [];

  constructor(open: ReadonlySet<string>, isMarked: boolean) {
    this.#open = open;
    this.#isMarked = isMarked;
  }

  write(message: Message, index: number): void {
    if (message.role === 'tool') {
      for (const part of message.parts) if (part.type === 'tool-result') this.#result(part, index);
      return;
    }
    this.flush();
    if (message.role === 'assistant') this.#turn(message);
    else if (message.role === 'system') this.#system(message, index);
    else this.#user(message, index);
  }

  flush(): void {
    if (this.#media.length > 0) this.wire.push({ role: 'user', content: this.#media });
    this.#media = [];
  }

  mark(breakpoint: number): void {
    const last = this.#blocks.findLast(({ index }) => index <= breakpoint);
    if (last !== undefined) last.block.prompt_cache_breakpoint = CACHE_MARK;
  }

  #system({ parts }: Message, index: number): void {
    this.wire.push({ role: 'system', content: this.#texts(textOf(parts), index) });
  }

  #user({ parts }: Message, index: number): void {
    if (!parts.some((part) => part.type === 'media')) {
      this.wire.push({ role: 'user', content: this.#texts(textOf(parts), index) });
      return;
    }
    const content = parts.flatMap(contentParts);
    this.#note(content.at(-1), index);
    this.wire.push({ role: 'user', content });
  }

  #result(part: ToolResultPart, index: number): void {
    this.wire.push({
      role: 'tool',
      tool_call_id: this.#ids.of(part.callId),
      content: this.#texts(resultText(part), index),
    });
    const media = part.content.filter((piece): piece is MediaPart => piece.type === 'media');
    this.#media.push(...media.map(mediaPart));
  }

  #turn(message: Message): void {
    const calls = callsOf(message);
    this.#ids.name(calls);
    const left = message.parts
      .filter((part): part is MediaPart => part.type === 'media')
      .map(({ mediaType }) => `[${mediaType} left out]`)
      .join('');
    this.wire.push({
      role: 'assistant',
      content: textOf(message.parts) + left,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => this.#call(call)) }),
    });
    for (const { callId } of calls) {
      if (!this.#open.has(callId)) continue;
      this.wire.push({ role: 'tool', tool_call_id: this.#ids.of(callId), content: NO_RESULT });
    }
  }

  #call({ callId, toolName, input }: ToolCallPart) {
    const call = { name: wireName(toolName), arguments: JSON.stringify(input) };
    return { id: this.#ids.of(callId), type: 'function' as const, function: call };
  }

  #texts(text: string, index: number): string | TextPart[] {
    if (!this.#isMarked) return text;
    const block: TextPart = { type: 'text', text };
    this.#note(block, index);
    return [block];
  }

  #note(block: Block | undefined, index: number): void {
    if (block !== undefined) this.#blocks.push({ index, block });
  }
}

function contentParts(part: Part): ChatCompletionContentPart[] {
  if (part.type === 'media') return [mediaPart(part)];
  const text = textOf([part]);
  return text === '' ? [] : [{ type: 'text', text }];
}

function mediaPart(part: MediaPart): ChatCompletionContentPart {
  const media = wireMedia(part);
  switch (media.kind) {
    case 'image':
      return { type: 'image_url', image_url: { url: media.url } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: media.base64, format: media.format } };
    case 'document':
      if ('url' in media) {
        throw noPlace(part.mediaType, 'Send the document inline, or use api: "responses".');
      }
      return { type: 'file', file: { file_data: media.data, filename: media.filename } };
  }
}
