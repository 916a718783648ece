import { linked, type Stop } from '../base/abort.ts';
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

type Arrival =
  | { readonly kind: 'batch'; readonly batch: readonly Envelope[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * A watched run as server-sent events: one frame an event, its number as `id`, the envelope as `data`;
 * comments while nothing happens.
 *
 * Contract:
 * - one piece a batch, taken only when the consumer asks: a slow client slows its own stream only;
 * - ends when the source ends, or at once when `signal` is aborted or the consumer stops; either way the
 *   signal that `open` was given is aborted and nothing is left behind;
 * - a failure of the source is the last frame (`event: failure`, the error as `data`), never a torn stream.
 */
export async function* eventStream(
  open: (stop: Stop & { readonly after?: number }) => AsyncIterable<readonly Envelope[]>,
  { signal, heartbeatMs = 15_000, clock = systemClock, snapshot }: EventStreamOptions,
): AsyncGenerator<string, void, void> {
  const source = linked(signal);
  let batches = open({ signal: source.signal })[Symbol.asyncIterator]();
  try {
    yield sseEncode({ comment: 'open' });
    let arrival = nextArrival(batches);
    for (;;) {
      const arrived = await firstOf(arrival, { ms: heartbeatMs, clock, signal });
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
        arrival = nextArrival(batches);
        continue;
      }
      yield arrived.batch.map(eventFrame).join('');
      arrival = nextArrival(batches);
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

/** One `next()` of the source that can be awaited again after every silence without piling up reactions. */
type Pending = { settled: Arrival | undefined; notify: (() => void) | undefined };

function nextArrival(batches: AsyncIterator<readonly Envelope[]>): Pending {
  const pending: Pending = { settled: undefined, notify: undefined };
  const settle = (arrival: Arrival): void => {
    pending.settled = arrival;
    pending.notify?.();
  };
  batches.next().then(
    ({ done, value }) => settle(done === true ? { kind: 'end' } : { kind: 'batch', batch: value }),
    (error: unknown) => settle({ kind: 'failed', error }),
  );
  return pending;
}

async function firstOf(
  pending: Pending,
  {
    ms,
    clock,
    signal,
  }: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Arrival | 'silence' | 'left'> {
  if (signal.aborted) return 'left';
  if (pending.settled !== undefined) return pending.settled;
  const timer = linked(signal);
  const arrived = new Promise<void>((resolve) => {
    pending.notify = resolve;
  });
  try {
    // The timer rejects when the client leaves: that ends the wait as well.
    await Promise.race([arrived, clock.sleep(ms, { signal: timer.signal })]).catch(() => undefined);
  } finally {
    pending.notify = undefined;
    timer.abort('arrived');
    timer.release();
  }
  if (signal.aborted) return 'left';
  return pending.settled ?? 'silence';
}
