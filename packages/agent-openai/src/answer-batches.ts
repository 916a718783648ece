import type { ModelEvent } from '@hexagent/agent-core';
import {
  isJsonObject,
  type Linked,
  linked,
  modelResponseInvalid,
  parseJson,
} from '@hexagent/agent-core/adapter';
import type { AnswerReader } from './answer-reader.ts';
import { type ApiAnswer, wholeBody } from './api-connection.ts';
import { readFrames } from './read-frames.ts';

type Batch = readonly ModelEvent[];
type Step = IteratorResult<Batch>;

/** An answer and what reads it. */
export type OpenAnswer = { readonly answer: ApiAnswer; readonly reader: AnswerReader };

type Opened = OpenAnswer & { readonly frames: ReturnType<typeof readFrames> };

const DONE: Step = { done: true, value: undefined };
const LEFT: Error = new Error('The reader has left.');

/**
 * The batches of one answer, one a network read. By hand rather than as a generator: leaving must free the
 * connection at once, also while a read is pending.
 */
export class AnswerBatches implements AsyncIterator<Batch> {
  readonly #open: (link: Linked) => Promise<OpenAnswer>;
  readonly #signal: AbortSignal;
  #link: Linked | undefined;
  #answer: ApiAnswer | undefined;
  #opened: Opened | undefined;
  #isOver = false;

  constructor(open: (link: Linked) => Promise<OpenAnswer>, signal: AbortSignal) {
    this.#open = open;
    this.#signal = signal;
  }

  async next(): Promise<Step> {
    if (this.#isOver) return DONE;
    this.#link ??= linked(this.#signal);
    const link = this.#link;
    try {
      link.throwIfAborted();
      const batch = await this.#batch(link);
      link.throwIfAborted();
      if (batch.at(-1)?.type === 'finish') {
        this.#isOver = true;
        link.release();
        this.#answer?.release();
      }
      return { done: false, value: batch };
    } catch (error) {
      // Left while this read was pending: nobody waits for an error.
      if (this.#isOver) return DONE;
      this.#leave(error);
      this.#signal.throwIfAborted();
      throw error;
    }
  }

  async return(): Promise<Step> {
    if (!this.#isOver) this.#leave(LEFT);
    return DONE;
  }

  /** The aborted link closes the connection. */
  #leave(reason: unknown): void {
    this.#isOver = true;
    this.#answer?.abandon();
    this.#link?.release();
    this.#link?.abort(reason);
  }

  async #batch(link: Linked): Promise<Batch> {
    this.#opened ??= await this.#begin(link);
    const { answer, reader, frames } = this.#opened;
    for (;;) {
      const events = reader.take();
      if (events.length > 0) return events;
      if (reader.failure !== undefined) throw reader.failure;
      const text = await answer.read();
      if (text === undefined) frames.end();
      else frames.accept(text);
    }
  }

  async #begin(link: Linked): Promise<Opened> {
    const opened = await this.#open(link);
    const { answer, reader } = opened;
    this.#answer = answer;
    const { contentType, context } = answer;
    if (/json/i.test(contentType)) {
      const value = parseJson(await wholeBody(answer));
      if (isJsonObject(value)) reader.acceptWhole(value);
      else reader.fail(modelResponseInvalid({ at: context.at, reason: 'the answer is not JSON' }));
    } else if (/html/i.test(contentType)) {
      throw modelResponseInvalid({
        at: context.at,
        reason: `it answered with ${JSON.stringify(contentType)} instead of an event stream`,
        mend: 'Check baseUrl: it ends in "/v1" at most providers.',
      });
    }
    return { ...opened, frames: readFrames(reader, context.at) };
  }
}
