import type { AGUIEvent } from '@ag-ui/core';
import type { Clock } from '@hexagent/agent-core';
import { heartbeat } from './heartbeat.ts';

/** What keeps proxies from closing a quiet connection; clients of the protocol skip it. */
const PING = ': ping\n\n';

/**
 * Events as server-sent events, one frame each. Taken from the source only when the reader asks, so a slow client slows its own
 * stream only. `onLeave` is called once the stream is over: its reader has left, its source has ended or failed.
 */
export function streamBody(
  source: AsyncIterable<readonly AGUIEvent[]>,
  {
    heartbeatMs: ms,
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
  let end: (reason: unknown) => void = onLeave;
  let note: () => void = () => undefined;
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // A reader that has not taken what is there needs no comment.
      const beat = (): void => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(PING));
      };
      const beats = heartbeat(beat, { ms, clock, signal });
      note = beats.note;
      end = (reason) => {
        beats.end();
        onLeave(reason);
      };
    },
    pull: async (controller) => {
      try {
        const { done, value } = await iterator.next();
        if (done === true) {
          end(undefined);
          controller.close();
          return;
        }
        note();
        controller.enqueue(encoder.encode(framesOf(value)));
      } catch (error) {
        end(error);
        throw error;
      }
    },
    cancel: async (reason) => {
      end(reason);
      // Not awaited: what waits for a store answers in its own time, and it has been told.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    },
  });
}

function framesOf(events: readonly AGUIEvent[]): string {
  let frames = '';
  for (const event of events) frames += `data: ${JSON.stringify(event)}\n\n`;
  return frames;
}
