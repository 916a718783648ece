import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import {
  AgentError,
  type Envelope,
  errorAnswerOf,
  type Linked,
  linked,
  type RunSnapshot,
} from '@hexagent/agent-core';
import { sseEncode } from '@hexagent/agent-core/adapter';
import type { Pulse } from './heartbeat.ts';
import type { HostStreams } from './host-streams.ts';

export type Batches = AsyncIterable<readonly Envelope[]>;

export type EventBodyOptions = {
  /** The client has left, or the host closes. */
  readonly signal: AbortSignal;
  readonly streams: HostStreams;
  /** The run as it is now, for a reader whose events are gone. */
  readonly snapshot?: (() => Promise<RunSnapshot>) | undefined;
};

/** Characters that are made in advance of one reader, beside what its socket holds. */
const AHEAD = 16 * 1_024;

/**
 * A watched run as the body of an answer: one frame an event, comments while nothing happens.
 *
 * Contract:
 * - the source is asked when the reader has taken what was there, and a batch is made into frames a piece at a time: a reader that
 *   does not read costs `AHEAD` and one event, and slows nobody;
 * - piped into a response, as Fastify does it, pieces are written there as they are made, with no second buffer before its own;
 * - a failure of the source is the last frame (`event: failure`, `{ error }` as `data`), never a torn stream;
 * - a host that closes ends it with a comment.
 */
export function eventBody(open: (after?: number) => Batches, options: EventBodyOptions): Readable {
  return new EventBody(open, options);
}

class EventBody extends Readable {
  readonly #open: (after?: number) => Batches;
  readonly #options: EventBodyOptions;
  readonly #link: Linked;
  readonly #pulse: Pulse;
  #source: AsyncIterator<readonly Envelope[]>;
  #batch: readonly Envelope[] = [];
  #at = 0;
  #hasBegun = false;
  #asking = false;
  /** The reader has taken what was there. */
  #wanted = false;
  #ended = false;
  /** Where pieces are written; absent while this is read like any other stream. */
  #sink: ServerResponse | undefined;

  constructor(open: (after?: number) => Batches, options: EventBodyOptions) {
    super({ highWaterMark: AHEAD });
    this.#open = open;
    this.#options = options;
    this.#source = open()[Symbol.asyncIterator]();
    this.#pulse = options.streams.heartbeat.join(() => this.#beat());
    // Joined once for the whole stream: the source waits under the same signal again and again.
    this.#link = linked(options.signal);
    this.#link.until(new Promise<never>(() => undefined)).catch(() => this.#leave());
  }

  override _read(): void {
    this.#wanted = true;
    this.#go();
  }

  /** Listeners and buffers of a pipe are felt with a thousand readers. What is no plain response is piped as usual. */
  override pipe<Sink extends NodeJS.WritableStream>(
    sink: Sink,
    options?: { readonly end?: boolean },
  ): Sink {
    if (!(sink instanceof ServerResponse) || options?.end === false)
      return super.pipe(sink, options);
    this.#sink = sink;
    sink.on('drain', () => this._read());
    this._read();
    return sink;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ended = true;
    this.#batch = [];
    this.#pulse.leave();
    this.#link.release();
    // Not awaited: a source that is busy answers in its own time, and the signal of its caller has told it.
    void Promise.resolve(this.#source.return?.()).catch(() => undefined);
    done(error);
  }

  #go(): void {
    if (!this.#hasBegun && this.#wanted && !this.#ended) {
      this.#hasBegun = true;
      this.#send(sseEncode({ comment: 'open' }));
    }
    while (this.#wanted && !this.#ended && this.#at < this.#batch.length) this.#give();
    if (this.#wanted && !this.#ended) this.#ask();
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    this.#source.next().then(
      ({ done, value }) => {
        this.#asking = false;
        if (this.#ended) return;
        if (done === true) this.#end();
        else this.#take(value);
      },
      (error: unknown) => void this.#fail(error),
    );
  }

  #take(batch: readonly Envelope[]): void {
    this.#batch = batch;
    this.#at = 0;
    this.#go();
  }

  /** A piece of the batch: the reader asks for the next when it has this. */
  #give(): void {
    const first = this.#at;
    let piece = '';
    while (this.#at < this.#batch.length && piece.length < AHEAD) {
      piece += this.#options.streams.frames.of(this.#batch[this.#at] as Envelope);
      this.#at += 1;
    }
    this.#options.streams.told(this.#at - first);
    if (this.#at === this.#batch.length) this.#batch = [];
    this.#send(piece);
  }

  #send(piece: string): void {
    this.#pulse.note();
    this.#wanted = false;
    if (this.#sink === undefined) this.push(piece);
    else this.#wanted = this.#sink.write(piece);
  }

  /** A reader that has not taken what is there needs no comment. */
  #beat(): void {
    if (this.#wanted && !this.#ended) this.#send(sseEncode({ comment: 'still here' }));
  }

  #end(last?: string): void {
    this.#ended = true;
    if (last !== undefined && this.#sink === undefined) this.push(last);
    this.push(null);
    if (this.#sink === undefined) return;
    this.#sink.end(last);
    // Nobody reads what was written elsewhere, and an end is told to readers only.
    this.resume();
  }

  #leave(): void {
    if (this.#ended) return;
    const { reason } = this.#options.signal;
    const isClosing = AgentError.is(reason) && reason.code === 'HOST_CLOSING';
    this.#end(
      isClosing ? sseEncode({ comment: 'closing: come again with the last id' }) : undefined,
    );
  }

  async #fail(error: unknown): Promise<void> {
    const { snapshot } = this.#options;
    if (this.#ended) return;
    try {
      if (snapshot === undefined || !isPruned(error)) throw error;
      const taken = await snapshot();
      if (this.#ended) return;
      this.#send(
        sseEncode({ event: 'snapshot', id: String(taken.lastSeq), data: JSON.stringify(taken) }),
      );
      this.#source = this.#open(taken.lastSeq)[Symbol.asyncIterator]();
      this.#asking = false;
      this.#go();
    } catch (failed) {
      if (this.#ended) return;
      const { body } = errorAnswerOf(failed);
      this.#end(sseEncode({ event: 'failure', data: JSON.stringify(body) }));
    }
  }
}

export function isPruned(error: unknown): boolean {
  return AgentError.is(error) && error.code === 'EVENTS_PRUNED';
}
