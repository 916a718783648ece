import type { ModelEvent, ProviderState, Usage } from '@hexagent/agent-core';
import {
  type AgentError,
  faultOf,
  type JsonObject,
  modelRefused,
  modelResponseInvalid,
  modelStreamTruncated,
  type ToolCallDelta,
  toolCallAssembler,
} from '@hexagent/agent-core/adapter';
import type { ReaderContext } from './answer-reader.ts';
import { streamError } from './api-error.ts';
import { restoredCalls, restoredText } from './restored-calls.ts';

type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** What both APIs do with what they read: collects events, and ends in `finish` or in a failure, once. */
export class AnswerDraft {
  model: string;
  usage: Usage = {};
  /** What the model said instead of an answer. */
  refusal = '';
  failure: AgentError | undefined;
  isOver = false;
  readonly #context: ReaderContext;
  readonly #assembler: ReturnType<typeof toolCallAssembler>;
  readonly #calls: ReturnType<typeof restoredCalls>;
  #events: ModelEvent[] = [];
  #hasContent = false;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.model = context.model;
    this.#assembler = toolCallAssembler({ toName: context.toName });
    this.#calls = restoredCalls(context.restores);
  }

  take(): ModelEvent[] {
    const taken = this.#events;
    this.#events = [];
    return taken;
  }

  /** Something of an answer has come, though it may show nothing. */
  begin(): void {
    this.#hasContent = true;
  }

  text(text: string): void {
    if (text !== '') this.#events.push({ type: 'text', text });
  }

  /** Output that was held until its end, on the way back from its strict schema; as it is where it does not parse. */
  restored(text: string): string {
    const { restoreOutput } = this.#context;
    return restoreOutput === undefined ? text : restoredText(text, restoreOutput);
  }

  reasoning(text: string): void {
    if (text !== '') this.#events.push({ type: 'reasoning', text });
  }

  /** Adds a piece of a call; answers the index of the call that it opens. */
  call(delta: ToolCallDelta): number | undefined {
    const made: ModelEvent[] = [];
    this.#assembler.accept(delta, made);
    for (const event of made) this.#calls.accept(event, this.#events);
    const start = made.find((event) => event.type === 'tool-call-start');
    return start?.index;
  }

  /** A call has all of its arguments. */
  callDone(index: number | undefined): void {
    if (index !== undefined) this.#calls.complete(index, this.#events);
  }

  fail(error: AgentError): void {
    if (this.isOver) return;
    this.failure = error;
    this.isOver = true;
  }

  /** The server reports that it failed. */
  failWith(value: JsonObject): void {
    const fault = faultOf(value) ?? { message: JSON.stringify(value) };
    this.fail(streamError(fault, this.#context));
  }

  /** The network has no more, and nothing said that the answer was complete. */
  cut(): void {
    const { at } = this.#context;
    this.fail(
      this.#hasContent
        ? modelStreamTruncated({ at, reason: 'the stream ended without its last event' })
        : modelResponseInvalid({ at, reason: 'the stream was empty', retryable: true }),
    );
  }

  /** The server says that it broke off. */
  broken(reason: string): void {
    this.fail(modelStreamTruncated({ at: this.#context.at, reason }));
  }

  finish(reason: Finish['reason'], state?: ProviderState): void {
    if (this.isOver) return;
    const { at } = this.#context;
    if (this.refusal !== '') {
      this.fail(modelRefused({ at, reason: `the model refused: ${this.refusal}` }));
      return;
    }
    const made: ModelEvent[] = [];
    const end = this.#assembler.finish(reason, made);
    if (end.unnamed > 0 && end.reason !== 'length') {
      const words = 'it sent a tool call without a name';
      this.fail(modelResponseInvalid({ at, reason: words, retryable: true }));
      return;
    }
    for (const event of made) this.#calls.accept(event, this.#events);
    this.#calls.finish(this.#events);
    if (state !== undefined) this.#events.push({ type: 'provider-state', state });
    const { usage, model } = this;
    this.#events.push({ type: 'finish', reason: end.reason, usage, model });
    this.isOver = true;
  }
}
