import type { ModelEvent } from '@hexagent/agent-core';
import {
  type AgentError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@hexagent/agent-core/adapter';
import { AnswerDraft } from '../answer-draft.ts';
import type { AnswerReader, ReaderContext } from '../answer-reader.ts';
import { wireUsage } from '../wire-usage.ts';
import { type LayoutItem, layoutState, replayable } from './turn-layout.ts';

/** One item of the output, by its place. */
type OutputItem = {
  /** The text that was shown of it. */
  text: string;
  /** Text that waits for its end, because it has to go the way back from its strict schema. */
  held: string;
  arguments: string;
  refusal: string;
  /** Which of the two forms of reasoning is shown; some servers send both. */
  reasoning: 'summary' | 'content' | undefined;
  /** Which call of the answer it is, once it has a name. */
  call: number | undefined;
  /** As the provider completed it. */
  done: JsonObject | undefined;
};

/**
 * Reads the events of the Responses API. Deltas are shown as they come; what only the complete item tells is taken from
 * there, so that an answer is whole also where a gateway leaves deltas out. Unknown events are ignored.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming
 */
export function responsesReader(context: ReaderContext): AnswerReader {
  return new ResponsesReader(context);
}

class ResponsesReader implements AnswerReader {
  readonly #draft: AnswerDraft;
  readonly #provider: string;
  readonly #holds: boolean;
  readonly #items = new Map<number, OutputItem>();

  constructor(context: ReaderContext) {
    this.#draft = new AnswerDraft(context);
    this.#provider = context.provider;
    this.#holds = context.restoreOutput !== undefined;
  }

  get failure(): AgentError | undefined {
    return this.#draft.failure;
  }

  get isOver(): boolean {
    return this.#draft.isOver;
  }

  /** Reason and usage come in the last event. */
  get hasReason(): boolean {
    return this.isOver;
  }

  take(): ModelEvent[] {
    return this.#draft.take();
  }

  fail(error: AgentError): void {
    this.#draft.fail(error);
  }

  end(): void {
    if (!this.isOver) this.#draft.cut();
  }

  acceptWhole(answer: JsonObject): void {
    if (answer['status'] === undefined && (isFault(answer['error']) || isWords(answer))) {
      this.#draft.failWith(answer);
    }
    if (answer['status'] !== undefined) this.#onEnd(answer);
    if (!this.isOver) this.#draft.cut();
  }

  accept(event: string, data: JsonObject): void {
    if (this.isOver) return;
    const type = textOf(data['type']) || event;
    if (type === 'error' || isFault(data['error'])) {
      this.#draft.failWith(data);
      return;
    }
    this.#draft.begin();
    const { response } = data;
    if (isJsonObject(response)) this.#onResponse(type, response);
    else this.#onItem(type, data);
  }

  #onResponse(type: string, response: JsonObject): void {
    this.#draft.model = textOf(response['model']) || this.#draft.model;
    if (type === 'response.completed') this.#onEnd(response);
    else if (type === 'response.incomplete') this.#onEnd({ ...response, status: 'incomplete' });
    else if (type === 'response.failed') this.#onEnd({ ...response, status: 'failed' });
  }

  #onItem(type: string, data: JsonObject): void {
    const item = this.#at(data['output_index']);
    const delta = textOf(data['delta']);
    switch (type) {
      case 'response.output_item.added':
        this.#onAdded(item, data);
        return;
      case 'response.output_item.done':
        if (isJsonObject(data['item'])) this.#onDone(item, data['output_index'], data['item']);
        return;
      case 'response.output_text.delta':
        this.#onText(item, delta);
        return;
      case 'response.refusal.delta':
        item.refusal += delta;
        this.#draft.refusal += delta;
        return;
      case 'response.function_call_arguments.delta':
        item.arguments += delta;
        this.#call(item, { index: indexOf(data['output_index']), arguments: delta });
        return;
      case 'response.reasoning_summary_part.added':
        // Parts are paragraphs; the first one needs no distance.
        if (item.reasoning === 'summary') this.#draft.reasoning('\n\n');
        return;
      case 'response.reasoning_summary_text.delta':
        this.#onReasoning(item, 'summary', delta);
        return;
      case 'response.reasoning_text.delta':
        this.#onReasoning(item, 'content', delta);
        return;
    }
  }

  #onAdded(state: OutputItem, { item, output_index }: JsonObject): void {
    if (!isJsonObject(item) || item['type'] !== 'function_call') return;
    const { call_id: id, name } = item;
    this.#call(state, { index: indexOf(output_index), id: textOf(id), name: textOf(name) });
  }

  #call(state: OutputItem, delta: Parameters<AnswerDraft['call']>[0]): void {
    const opened = this.#draft.call(delta);
    if (opened !== undefined) state.call = opened;
  }

  #onText(state: OutputItem, delta: string): void {
    if (this.#holds) {
      state.held += delta;
      return;
    }
    state.text += delta;
    this.#draft.text(delta);
  }

  #onReasoning(state: OutputItem, form: 'summary' | 'content', delta: string): void {
    state.reasoning ??= form;
    if (state.reasoning === form) this.#draft.reasoning(delta);
  }

  /** Shows of a complete item what its deltas have not shown. */
  #onDone(state: OutputItem, index: JsonValue | undefined, item: JsonObject): void {
    if (state.done !== undefined) return;
    state.done = item;
    if (item['type'] === 'function_call') {
      const { call_id: id, name, arguments: whole } = item;
      const missing = state.arguments === '' ? textOf(whole) : '';
      this.#call(state, {
        index: indexOf(index),
        id: textOf(id),
        name: textOf(name),
        arguments: missing,
      });
      this.#draft.callDone(state.call);
      return;
    }
    if (item['type'] === 'reasoning') this.#onReasoned(state, item);
    if (item['type'] !== 'message') return;
    const parts = listOf(item['content']);
    const said = (type: string, field: string): string =>
      parts.map((part) => (part['type'] === type ? textOf(part[field]) : '')).join('');
    if (state.text === '' && state.held === '') this.#onText(state, said('output_text', 'text'));
    if (state.refusal === '') this.#draft.refusal += said('refusal', 'refusal');
    this.#release(state);
  }

  #onReasoned(state: OutputItem, item: JsonObject): void {
    if (state.reasoning !== undefined) return;
    const summary = listOf(item['summary']).map((part) => textOf(part['text']));
    const content = listOf(item['content']).map((part) => textOf(part['text']));
    this.#draft.reasoning(summary.join('\n\n') || content.join(''));
  }

  #release(state: OutputItem): void {
    if (state.held === '') return;
    const text = this.#draft.restored(state.held);
    state.held = '';
    state.text += text;
    this.#draft.text(text);
  }

  #onEnd(response: JsonObject): void {
    const { status, error, incomplete_details: details } = response;
    if (status === 'queued' || status === 'in_progress') return;
    this.#draft.usage = wireUsage(response['usage']);
    this.#draft.model = textOf(response['model']) || this.#draft.model;
    if (status === 'failed' || status === 'cancelled') {
      const words = { message: `the response ended with the status "${status}"` };
      this.#draft.failWith(isJsonObject(error) ? error : words);
      return;
    }
    listOf(response['output']).forEach((item, index) => {
      if (status !== 'incomplete') this.#onDone(this.#at(index), index, item);
    });
    for (const item of this.#items.values()) this.#release(item);
    const state = layoutState(this.#layout(), this.#provider);
    const reason = isJsonObject(details) ? details['reason'] : undefined;
    if (status !== 'incomplete') this.#draft.finish('stop', state);
    else this.#draft.finish(reason === 'content_filter' ? 'content-filter' : 'length', state);
  }

  #layout(): readonly LayoutItem[] {
    const inOrder = [...this.#items].sort(([left], [right]) => left - right);
    return inOrder.flatMap(([, { done, text, call }]): readonly LayoutItem[] => {
      if (done?.['type'] === 'reasoning') {
        const item = replayable(done);
        return item === undefined ? [] : [{ kind: 'reasoning', item }];
      }
      if (call !== undefined) return [{ kind: 'call', index: call }];
      if (text === '') return [];
      const { id, phase } = done ?? {};
      return [
        {
          kind: 'text',
          length: text.length,
          ...(typeof id === 'string' ? { id } : {}),
          ...(phase === 'commentary' || phase === 'final_answer' ? { phase } : {}),
        },
      ];
    });
  }

  #at(place: JsonValue | undefined): OutputItem {
    const index = indexOf(place);
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const item: OutputItem = {
      text: '',
      held: '',
      arguments: '',
      refusal: '',
      reasoning: undefined,
      call: undefined,
      done: undefined,
    };
    this.#items.set(index, item);
    return item;
  }
}

function indexOf(place: JsonValue | undefined): number {
  return typeof place === 'number' ? place : 0;
}

/** What gateways say of an error: `{ message }` or `{ detail }`, with nothing around it. */
function isWords({ message, detail }: JsonObject): boolean {
  return typeof message === 'string' || detail !== undefined;
}

function isFault(error: JsonValue | undefined): boolean {
  return error !== undefined && error !== null;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
