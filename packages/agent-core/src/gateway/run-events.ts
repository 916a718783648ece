import type { AgentYield } from '../events/agent-yield.ts';
import type { Envelope } from '../events/envelope.ts';
import { toYields } from '../events/project-yields.ts';
import type { EventFeed } from '../runner/event-feed.ts';
import { onNews } from './on-news.ts';
import { endsStream } from './watch-run.ts';

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * The events of a feed, one by one, with nothing between producer and consumer: no generator, no queue of
 * its own. When the feed no longer keeps what comes next, `goOn` takes over from the last number seen.
 */
export function feedEvents(
  feed: EventFeed,
  options: {
    readonly after: number;
    readonly signal: AbortSignal | undefined;
    readonly goOn: ((after: number) => AsyncIterable<Envelope>) | undefined;
  },
): AsyncIterable<Envelope> {
  return { [Symbol.asyncIterator]: () => new FeedIterator(feed, options) };
}

class FeedIterator implements AsyncIterator<Envelope, undefined> {
  readonly #feed: EventFeed;
  readonly #signal: AbortSignal | undefined;
  readonly #goOn: ((after: number) => AsyncIterable<Envelope>) | undefined;
  #index: number;
  #cursor: number;
  #rest: AsyncIterator<Envelope> | undefined;
  #ended = false;

  constructor(feed: EventFeed, options: Parameters<typeof feedEvents>[1]) {
    this.#feed = feed;
    this.#signal = options.signal;
    this.#goOn = options.goOn;
    this.#cursor = options.after;
    this.#index = feed.joinAt(options.after) ?? -1;
  }

  next(): Promise<IteratorResult<Envelope, undefined>> {
    if (this.#rest !== undefined)
      return this.#rest.next() as Promise<IteratorResult<Envelope, undefined>>;
    if (this.#ended) return Promise.resolve(DONE);
    if (this.#signal?.aborted === true) return Promise.reject(this.#signal.reason);
    const value = this.#index < 0 ? undefined : this.#feed.at(this.#index);
    if (value !== undefined) {
      this.#index += 1;
      this.#cursor = value.seq;
      if (endsStream(value)) this.#ended = true;
      return Promise.resolve({ done: false, value });
    }
    if (this.#index >= 0 && this.#feed.keeps(this.#index) && !this.#feed.stopped)
      return this.#wait();
    if (this.#goOn === undefined) {
      this.#ended = true;
      return Promise.resolve(DONE);
    }
    this.#rest = this.#goOn(this.#cursor)[Symbol.asyncIterator]();
    return this.next();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#ended = true;
    await this.#rest?.return?.();
    return DONE;
  }

  #wait(): Promise<IteratorResult<Envelope, undefined>> {
    return new Promise((resolve) => {
      onNews(this.#feed, this.#signal, () => resolve(this.next()));
    });
  }
}

/** Batches, one event at a time. */
export async function* eachEvent(
  batches: AsyncIterable<readonly Envelope[]>,
): AsyncGenerator<Envelope, void, void> {
  for await (const batch of batches) yield* batch;
}

/** Events as the contract's stream items. */
export async function* eachYield(
  events: AsyncIterable<Envelope>,
): AsyncGenerator<AgentYield, void, void> {
  for await (const envelope of events) yield* toYields(envelope);
}
