import {
  type MediaPart,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from '@hexagent/agent-core';
import { type JsonObject, wireName } from '@hexagent/agent-core/adapter';
import type {
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses';
import { CallIds, callsOf, NO_RESULT, openCalls, resultText } from '../call-results.ts';
import { CACHE_MARK } from '../prompt-cache.ts';
import { noPlace, wireMedia } from '../wire-media.ts';
import { type LayoutItem, layoutOf, replayable } from './turn-layout.ts';

export type ResponsesInput = {
  /** The system messages at the beginning. */
  readonly instructions?: string;
  readonly input: ResponseInputItem[];
};

/** The messages of a request as input items, with a mark after the messages of `breakpoints`. */
export function responsesInput(
  messages: readonly Message[],
  { provider, breakpoints }: { readonly provider: string; readonly breakpoints: readonly number[] },
): ResponsesInput {
  // A mark needs a content block, which the instructions have not.
  const isMarked = breakpoints.length > 0;
  const begin = isMarked ? 0 : leadingSystem(messages);
  const writer = new InputWriter({ provider, open: openCalls(messages), isMarked });
  messages.forEach((message, index) => {
    if (index >= begin) writer.write(message, index);
  });
  for (const breakpoint of breakpoints) writer.mark(breakpoint);
  const instructions = messages
    .slice(0, begin)
    .map(({ parts }) => textOf(parts))
    .join('\n\n');
  return { ...(instructions === '' ? {} : { instructions }), input: writer.items };
}

function leadingSystem(messages: readonly Message[]): number {
  const end = messages.findIndex(({ role }) => role !== 'system');
  return end < 0 ? messages.length : end;
}

type Markable = { prompt_cache_breakpoint?: { mode: 'explicit' } | null };

class InputWriter {
  readonly items: ResponseInputItem[] = [];
  readonly #ids = new CallIds();
  readonly #provider: string;
  readonly #open: ReadonlySet<string>;
  readonly #isMarked: boolean;
  /** The last content block of each message that has one. */
  readonly #blocks: { readonly index: number; readonly block: Markable }[] = [];

  constructor({
    provider,
    open,
    isMarked,
  }: {
    readonly provider: string;
    readonly open: ReadonlySet<string>;
    readonly isMarked: boolean;
  }) {
    this.#provider = provider;
    this.#open = open;
    this.#isMarked = isMarked;
  }

  write(message: Message, index: number): void {
    if (message.role === 'assistant') {
      const calls = callsOf(message);
      this.#ids.name(calls);
      const layout = layoutOf(message, this.#provider) ?? [];
      this.items.push(...turnItems(message, { layout, calls }, (call) => this.#ids.of(call)));
      this.#closeCalls(calls);
      return;
    }
    if (message.role === 'tool') {
      for (const part of message.parts) {
        if (part.type === 'tool-result') this.#writeResult(part, index);
      }
      return;
    }
    const content = message.parts.flatMap(inputContent);
    if (content.length === 0) content.push({ type: 'input_text', text: '' });
    const role = message.role === 'system' ? 'developer' : 'user';
    this.items.push({ type: 'message', role, content });
    this.#note(content, index);
  }

  /** Marks the last block up to the end of that message: assistant messages have none. */
  mark(breakpoint: number): void {
    const last = this.#blocks.findLast(({ index }) => index <= breakpoint);
    if (last !== undefined) last.block.prompt_cache_breakpoint = CACHE_MARK;
  }

  #writeResult(part: ToolResultPart, index: number): void {
    const text = resultText(part);
    const call_id = this.#ids.of(part.callId);
    const media = part.content.filter((piece): piece is MediaPart => piece.type === 'media');
    if (media.length === 0 && !this.#isMarked) {
      this.items.push({ type: 'function_call_output', call_id, output: text });
      return;
    }
    const output: ResponseFunctionCallOutputItem[] = [
      ...(text === '' && media.length > 0 ? [] : [{ type: 'input_text' as const, text }]),
      ...media.map(mediaContent),
    ];
    this.#note(output, index);
    this.items.push({ type: 'function_call_output', call_id, output });
  }

  #closeCalls(calls: readonly ToolCallPart[]): void {
    for (const { callId } of calls) {
      if (!this.#open.has(callId)) continue;
      const call_id = this.#ids.of(callId);
      this.items.push({ type: 'function_call_output', call_id, output: NO_RESULT });
    }
  }

  #note(content: readonly Markable[], index: number): void {
    const block = content.at(-1);
    if (block !== undefined) this.#blocks.push({ index, block });
  }
}

function inputContent(part: Part): ResponseInputContent[] {
  if (part.type === 'media') return [mediaContent(part)];
  const text = textOf([part]);
  return text === '' ? [] : [{ type: 'input_text', text }];
}

function mediaContent(part: MediaPart): ResponseInputContent {
  const media = wireMedia(part);
  if (media.kind === 'image') return { type: 'input_image', image_url: media.url, detail: 'auto' };
  if (media.kind === 'audio') {
    throw noPlace(part.mediaType, 'Use api: "chat" with a model that hears, or send a transcript.');
  }
  return 'url' in media
    ? { type: 'input_file', file_url: media.url }
    : { type: 'input_file', file_data: media.data, filename: media.filename };
}

/** The items of one assistant turn, in the order that the provider gave them. */
function turnItems(
  message: Message,
  {
    layout: known,
    calls,
  }: { readonly layout: readonly LayoutItem[]; readonly calls: readonly ToolCallPart[] },
  idOf: (callId: string) => string,
): readonly ResponseInputItem[] {
  const text = spokenText(message);
  const layout = completed(known, text, calls.length);
  const items: ResponseInputItem[] = [];
  // Reasoning without the item that it led to is refused, so it waits for one.
  let reasoning: ResponseReasoningItem[] = [];
  let at = 0;
  let isReasoned = false;
  for (const entry of layout) {
    if (entry.kind === 'reasoning') {
      const item = reasoningItem(entry.item);
      if (item !== undefined) reasoning.push(item);
      continue;
    }
    const call = entry.kind === 'call' ? calls[entry.index] : undefined;
    const said = entry.kind === 'text' ? text.slice(at, at + entry.length) : '';
    at += said.length;
    if (call === undefined && said === '') continue;
    isReasoned ||= reasoning.length > 0;
    items.push(...reasoning);
    reasoning = [];
    if (call !== undefined) items.push(callItem(call, idOf(call.callId)));
    else if (entry.kind === 'text') items.push(textItem(said, entry, isReasoned));
  }
  return items;
}

/** A layout that names every call and all of the text, whatever became of the message since it was written. */
function completed(
  layout: readonly LayoutItem[],
  text: string,
  calls: number,
): readonly LayoutItem[] {
  const named = new Set<number>();
  const once = layout.filter((item) => {
    if (item.kind !== 'call') return true;
    const isNew = !named.has(item.index);
    named.add(item.index);
    return isNew;
  });
  const missing = Array.from({ length: calls }, (_, index) => index)
    .filter((index) => !named.has(index))
    .map((index): LayoutItem => ({ kind: 'call', index }));
  return [...fittedTexts(once, text), ...missing];
}

/** Texts of the lengths that the message has: a changed text goes whole to where the first one was. */
function fittedTexts(layout: readonly LayoutItem[], text: string): readonly LayoutItem[] {
  const length = layout.reduce((sum, item) => sum + (item.kind === 'text' ? item.length : 0), 0);
  if (length === text.length) return layout;
  const whole: LayoutItem = { kind: 'text', length: text.length };
  const first = layout.findIndex(({ kind }) => kind === 'text');
  if (first < 0) {
    const call = layout.findIndex(({ kind }) => kind === 'call');
    const place = call < 0 ? layout.length : call;
    return [...layout.slice(0, place), whole, ...layout.slice(place)];
  }
  return layout
    .map((item, place) => (place === first ? whole : item))
    .filter((item) => item.kind !== 'text' || item === whole);
}

function spokenText({ parts }: Message): string {
  const left = parts
    .filter((part): part is MediaPart => part.type === 'media')
    .map(({ mediaType }) => `[${mediaType} left out]`)
    .join('');
  return textOf(parts) + left;
}

function reasoningItem(item: JsonObject): ResponseReasoningItem | undefined {
  const replayed = replayable(item);
  const { id, summary } = replayed ?? {};
  if (replayed === undefined || typeof id !== 'string') return undefined;
  // Opaque: what the provider wrote goes back as it is.
  return { ...replayed, type: 'reasoning', id, summary: Array.isArray(summary) ? summary : [] };
}

function callItem({ toolName, input }: ToolCallPart, call_id: string): ResponseInputItem {
  const name = wireName(toolName);
  return { type: 'function_call', call_id, name, arguments: JSON.stringify(input) };
}

function textItem(
  text: string,
  { id, phase }: Extract<LayoutItem, { kind: 'text' }>,
  isReasoned: boolean,
): ResponseInputItem {
  const role = 'assistant';
  const phased = phase === undefined ? {} : { phase };
  // Reasoning is tied to the message that followed it by that message's id; without reasoning the id would look for it.
  if (!isReasoned || id === undefined) {
    return { type: 'message', role, content: text, ...phased };
  }
  const content = [{ type: 'output_text' as const, text, annotations: [] }];
  return { type: 'message', id, role, status: 'completed', content, ...phased };
}
