import { type Linked, linked, type Stop } from '../base/abort.ts';
import type { AgentError } from '../base/error.ts';
import type { ModelEvent } from '../model/agent-model.ts';
import type { AnswerText } from './answer-text.ts';

/**
 * Reads the text of one answer into neutral events. It never throws: what went wrong is in `failure`, behind the events that
 * came before it. Each wire format has its own.
 */
export interface AnswerReader {
  /** Reads what the network gave, however it was cut. */
  accept(text: string): void;
  /** The network has no more. Afterwards there is a `finish` among the events, or a `failure`. */
  end(): void;
  /** The events since the last call. */
  take(): readonly ModelEvent[];
  readonly failure: AgentError | undefined;
}

/** An answer whose headers are here, and what reads it. */
export type OpenAnswer = { readonly text: AnswerText; readonly reader: AnswerReader };

/**
 * The batches of one answer, one a network read, which is where clients of vendors give event by event. `open` sends the
 * request with the first read; aborting its link has to close the connection. That happens at once when the caller aborts or
 * the reader leaves, also while a read is pending.
 */
export function answerBatches(
  open: (link: Linked) => Promise<OpenAnswer>,
  stop: Stop,
): AsyncIterator<readonly ModelEvent[]> {
  return new AnswerBatches(open, stop);
}

type Batch = readonly ModelEvent[];
type Step = IteratorResult<Batch>;

const DONE: Step = { done: true, value: undefined };
const LEFT: Error = new Error('The reader has left.');

/** By hand rather than as a generator, which could not be left while a read is pending. */
class AnswerBatches implements AsyncIterator<Batch> {
  readonly #open: (link: Linked) => Promise<OpenAnswer>;
  readonly #signal: AbortSignal;
  #link: Linked | undefined;
  #opening: Promise<OpenAnswer> | undefined;
  #answer: OpenAnswer | undefined;
  #isOver = false;

  constructor(open: (link: Linked) => Promise<OpenAnswer>, { signal }: Stop) {
    this.#open = open;
    this.#signal = signal;
  }

  async next(): Promise<Step> {
    if (this.#isOver) return DONE;
    this.#link ??= linked(this.#signal);
    const link = this.#link;
    try {
      link.throwIfAborted();
      this.#answer ??= await this.#opened(link);
      const batch = await nextBatch(this.#answer);
      link.throwIfAborted();
      if (batch.at(-1)?.type === 'finish') {
        this.#isOver = true;
        link.release();
        this.#answer.text.release();
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

  #opened(link: Linked): Promise<OpenAnswer> {
    this.#opening ??= this.#open(link).then((answer) => {
      // An answer that comes although its link was aborted is closed by nobody else.
      if (link.aborted) answer.text.abandon();
      return answer;
    });
    return this.#opening;
  }

  /** The aborted link closes the connection. */
  #leave(reason: unknown): void {
    this.#isOver = true;
    this.#link?.release();
    this.#link?.abort(reason);
    this.#answer?.text.abandon();
  }
}

/** The next events, never none; throws what the answer failed of once they are given out. */
async function nextBatch({ text, reader }: OpenAnswer): Promise<Batch> {
  for (;;) {
    const events = reader.take();
    if (events.length > 0) return events;
    if (reader.failure !== undefined) throw reader.failure;
    const piece = await text.read();
    if (piece === undefined) reader.end();
    else reader.accept(piece);
  }
}
