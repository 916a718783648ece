import { type Clock, linked } from '@hexagent/agent-core';

/** Says on a quiet stream that it is still there. One timer a stream, however much is said on it. */
export type Heartbeat = {
  /** Something was said. */
  note(): void;
  end(): void;
};

/** @param beat called when nothing was said for `ms` milliseconds, again and again, until the end or the signal */
export function heartbeat(
  beat: () => void,
  {
    ms,
    clock,
    signal,
  }: { readonly ms: number; readonly clock: Clock; readonly signal: AbortSignal },
): Heartbeat {
  const timer = linked(signal);
  let last = clock.monotonic();
  const watch = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(Math.max(1, last + ms - clock.monotonic()), timer);
      if (clock.monotonic() - last < ms) continue;
      last = clock.monotonic();
      beat();
    }
  };
  // It ends by its timer's abort only: the stream is over, and nobody waits for it.
  watch().catch(() => undefined);
  return {
    note: () => {
      last = clock.monotonic();
    },
    end: () => {
      timer.abort('The stream is over.');
      timer.release();
    },
  };
}
