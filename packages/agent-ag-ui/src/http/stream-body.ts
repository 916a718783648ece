import type { AGUIEvent } from '@ag-ui/core';
import { type Clock, linked } from '@hexagent/agent-core';

/** What keeps proxies from closing a quiet connection; clients of the protocol skip it. */
const PING = ': ping\n\n';

/**
 * Events as server-sent events, one frame each. Taken from the source only when the reader asks, so a slow client slows its own
 * stream only. `onLeave` is called once the stream is over: its reader has left, its source has ended or failed.
 */
export function streamBody(
  source: AsyncIterable<readonly AGUIEvent[]>,
  {
    heartbeatMs,
    clock,
    signal,
    onLeave,
  }: {
    readonly heartbeatMs: number;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly onLeave: (reason: unknown) => void;
  },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<readonly AGUIEvent[]>> | undefined;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      next ??= iterator.next();
      const arrived = await firstOf(next, { ms: heartbeatMs, clock, signal }).catch(
        (error: unknown) => {
          onLeave(error);
          throw error;
        },
      );
      if (arrived === 'silence') {
        controller.enqueue(encoder.encode(PING));
        return;
      }
      next = undefined;
      if (arrived.done === true) {
        onLeave(undefined);
        controller.close();
        return;
      }
      const frames = arrived.value.map((event) => `data: ${JSON.stringify(event)}\n\n`);
      controller.enqueue(encoder.encode(frames.join('')));
    },
    cancel: async (reason) => {
      onLeave(reason);
      // Not awaited: what waits for a store answers in its own time, and it has been told.
      next?.catch(() => undefined);
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  });
}

async function firstOf<T>(
  next: Promise<T>,
  {
    ms,
    clock,
    signal,
  }: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T | 'silence'> {
  const timer = linked(signal);
  // The client may leave meanwhile: then the source ends by itself.
  const silence = clock.sleep(ms, timer).then(
    () => 'silence' as const,
    () => next,
  );
  try {
    return await Promise.race([next, silence]);
  } finally {
    timer.abort('arrived');
    timer.release();
  }
}
