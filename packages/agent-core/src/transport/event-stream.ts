import { type Linked, linked, type Stop } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import type { Envelope } from '../events/envelope.ts';
import type { RunSnapshot } from '../gateway/snapshot.ts';
import { sseEncode } from '../wire/sse-encode.ts';
import { errorAnswerOf } from './error-answer.ts';

export type EventStreamOptions = {
  /** The client has left, or the host closes. */
  readonly signal: AbortSignal;
  /** Milliseconds of silence after which a comment is sent. Default 15,000. */
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
  /**
   * The run as it is now, for a reader whose cursor is refused with `EVENTS_PRUNED`: it is sent as one frame
   * (`event: snapshot`, its `lastSeq` as `id`), replaces what the reader has, and the stream goes on behind it. Absent: the
   * refusal is the last frame.
   */
  readonly snapshot?: (stop: Stop) => Promise<RunSnapshot>;
};

/** The headers of a stream of events; nothing in between may keep or gather it. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

type Batches = AsyncIterable<readonly Envelope[]>;
type Arrival =
  | { readonly kind: 'batch'; readonly batch: readonly Envelope[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * A watched run as server-sent events: one frame an event, its number as `id`, the envelope as `data`;
 * comments while nothing happens. For whoever answers a request without `agent-fastapi-like`.
 *
 * Contract:
 * - one piece a batch, taken only when the consumer asks: a slow client slows its own stream only;
 * - ends when the source ends, or at once when `signal` is aborted or the consumer stops; either way the
 *   signal that `open` was given is aborted and nothing is left behind;
 * - a failure of the source is the last frame (`event: failure`, the error as `data`), never a torn stream.
 *
 * An example that runs: `docs/events.md`, *Sending them yourself*.
 */
export async function* eventStream(
  open: (stop: Stop & { readonly after?: number }) => Batches,
  { signal, heartbeatMs = 15_000, clock = systemClock, snapshot }: EventStreamOptions,
): AsyncGenerator<string, void, void> {
  const source = linked(signal);
  const waiting = new Waiting(source, { heartbeatMs, clock });
  let batches = open({ signal: source.signal })[Symbol.asyncIterator]();
  try {
    yield sseEncode({ comment: 'open' });
    waiting.ask(batches);
    for (;;) {
      const arrived = await waiting.next();
      if (arrived === 'silence') {
        yield sseEncode({ comment: 'still here' });
        continue;
      }
      if (arrived === 'left' || arrived.kind === 'end') return;
      if (arrived.kind === 'failed') {
        const taken = await snapshotInstead(arrived.error, { snapshot, signal: source.signal });
        if ('error' in taken) {
          yield failureFrame(taken.error);
          return;
        }
        const { lastSeq: after } = taken.snapshot;
        yield sseEncode({
          event: 'snapshot',
          id: String(after),
          data: JSON.stringify(taken.snapshot),
        });
        batches = open({ signal: source.signal, after })[Symbol.asyncIterator]();
      } else yield arrived.batch.map(eventFrame).join('');
      waiting.ask(batches);
    }
  } finally {
    source.abort(signal.aborted ? signal.reason : new Error('The stream was closed.'));
    source.release();
    // Not awaited: a source that is busy answers in its own time, and it has been told.
    void Promise.resolve(batches.return?.()).catch(() => undefined);
  }
}

/** What a reader whose events are gone starts from; the error that its stream ends with in any other case. */
async function snapshotInstead(
  error: unknown,
  {
    snapshot,
    signal,
  }: {
    readonly snapshot: EventStreamOptions['snapshot'] | undefined;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly snapshot: RunSnapshot } | { readonly error: unknown }> {
  if (snapshot === undefined || !AgentError.is(error) || error.code !== 'EVENTS_PRUNED')
    return { error };
  try {
    return { snapshot: await snapshot({ signal }) };
  } catch (failed) {
    return { error: failed };
  }
}

function eventFrame(envelope: Envelope): string {
  return sseEncode({ id: String(envelope.seq), data: JSON.stringify(envelope) });
}

function failureFrame(error: unknown): string {
  return sseEncode({ event: 'failure', data: JSON.stringify(errorAnswerOf(error).body) });
}

/** What a stream waits for: its source, the end of the silence, its client's leaving. One timer for all of its batches. */
class Waiting {
  readonly #source: Linked;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;
  #arrival: Arrival | undefined;
  /** When the client was last told something, by the monotonic clock. */
  #toldAt: number;
  #isSilent = false;
  #look: (() => void) | undefined;

  constructor(
    source: Linked,
    { heartbeatMs, clock }: { readonly heartbeatMs: number; readonly clock: Clock },
  ) {
    this.#source = source;
    this.#clock = clock;
    this.#heartbeatMs = heartbeatMs;
    this.#toldAt = clock.monotonic();
    // Rejects when the stream is over, however it ends.
    this.#watchSilence().catch(() => this.#look?.());
  }

  ask(batches: AsyncIterator<readonly Envelope[]>): void {
    this.#toldAt = this.#clock.monotonic();
    batches.next().then(
      ({ done, value }) =>
        this.#arrive(done === true ? { kind: 'end' } : { kind: 'batch', batch: value }),
      (error: unknown) => this.#arrive({ kind: 'failed', error }),
    );
  }

  async next(): Promise<Arrival | 'silence' | 'left'> {
    for (;;) {
      if (this.#source.aborted) return 'left';
      const arrival = this.#arrival;
      const isSilent = this.#isSilent;
      this.#isSilent = false;
      if (arrival !== undefined) {
        this.#arrival = undefined;
        return arrival;
      }
      if (isSilent) return 'silence';
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
      this.#look = undefined;
    }
  }

  #arrive(arrival: Arrival): void {
    this.#arrival = arrival;
    this.#look?.();
  }

  async #watchSilence(): Promise<never> {
    for (;;) {
      const now = this.#clock.monotonic();
      if (now - this.#toldAt >= this.#heartbeatMs) {
        this.#toldAt = now;
        this.#isSilent = true;
        this.#look?.();
      }
      await this.#clock.sleep(this.#toldAt + this.#heartbeatMs - now, this.#source);
    }
  }
}
