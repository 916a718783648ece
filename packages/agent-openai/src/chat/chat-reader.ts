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

type FinishReason = Extract<ModelEvent, { type: 'finish' }>['reason'];

/**
 * Reads the chunks of chat completions. Only a finish reason makes an answer complete; the usage may come in a chunk of its
 * own behind it, so `finish` waits for the end.
 */
export function chatReader(context: ReaderContext): AnswerReader {
  return new ChatReader(context);
}

class ChatReader implements AnswerReader {
  readonly #draft: AnswerDraft;
  readonly #holds: boolean;
  /** Text that waits for its end, because it has to go the way back from its strict schema. */
  #held = '';
  #reason: string | undefined;

  constructor(context: ReaderContext) {
    this.#draft = new AnswerDraft(context);
    this.#holds = context.restoreOutput !== undefined;
  }

  get failure(): AgentError | undefined {
    return this.#draft.failure;
  }

  get isOver(): boolean {
    return this.#draft.isOver;
  }

  get hasReason(): boolean {
    return this.#reason !== undefined;
  }

  take(): ModelEvent[] {
    return this.#draft.take();
  }

  fail(error: AgentError): void {
    this.#draft.fail(error);
  }

  accept(event: string, chunk: JsonObject): void {
    if (this.isOver) return;
    const { error, usage, model, choices } = chunk;
    if (
      event === 'error' ||
      (error !== undefined && error !== null) ||
      chunk['object'] === 'error'
    ) {
      this.#draft.failWith(chunk);
      return;
    }
    if (isJsonObject(usage)) this.#draft.usage = wireUsage(usage);
    this.#draft.model = textOf(model) || this.#draft.model;
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return;
    this.#draft.begin();
    const delta = choice['delta'] ?? choice['message'];
    if (isJsonObject(delta)) this.#onDelta(delta);
    this.#reason = textOf(choice['finish_reason']) || this.#reason;
  }

  acceptWhole(answer: JsonObject): void {
    this.accept('', answer);
    this.end();
  }

  end(): void {
    if (this.isOver) return;
    if (this.#reason === undefined) {
      this.#draft.cut();
      return;
    }
    if (this.#reason === 'error' || this.#reason === 'abort') {
      // Gateways before other servers pass their words on: neither is an answer.
      this.#draft.broken(`the server ended the answer with the reason "${this.#reason}"`);
      return;
    }
    this.#draft.text(this.#draft.restored(this.#held));
    this.#draft.finish(neutralReason(this.#reason));
  }

  #onDelta(delta: JsonObject): void {
    // OpenAI shows none; gateways before other models name it in one of two ways, sometimes in both.
    this.#draft.reasoning(textOf(delta['reasoning']) || textOf(delta['reasoning_content']));
    const text = textOf(delta['content']);
    if (this.#holds) this.#held += text;
    else this.#draft.text(text);
    this.#draft.refusal += textOf(delta['refusal']);
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls)) return;
    for (const call of calls) if (isJsonObject(call)) this.#onCall(call);
  }

  #onCall({ index, id, function: named }: JsonObject): void {
    const { name, arguments: text } = isJsonObject(named) ? named : {};
    this.#draft.call({
      ...(typeof index === 'number' ? { index } : {}),
      id: textOf(id),
      name: textOf(name),
      ...(text === undefined ? {} : { arguments: text }),
    });
  }
}

function neutralReason(reason: string): FinishReason {
  switch (reason) {
    case 'tool_calls':
    case 'function_call':
      return 'tool-calls';
    case 'length':
      return 'length';
    case 'content_filter':
      return 'content-filter';
    default:
      return 'stop';
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
