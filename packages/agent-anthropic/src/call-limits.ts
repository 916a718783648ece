import { type Clock, type Linked, linked, modelTimeout } from '@hexagent/agent-core/adapter';
import type { Timeouts } from './anthropic-options.ts';

/** Timers of the platform hold no more than 31 bits of milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** The limits over one try, which begins now: `call` is aborted with `MODEL_TIMEOUT` when one is reached. */
export interface CallLimits {
  /** A read begins. Between two reads nobody waits for the server: a slow reader is not a silent one. */
  onRead(): void;
  onBytes(): void;
  /** Stops the clock. */
  release(): void;
}

export function callLimits(
  call: Linked,
  options: {
    readonly timeouts: Pick<Timeouts, 'firstByteMs' | 'idleMs'>;
    readonly clock: Clock;
    /** The address, for the error. */
    readonly at: string;
  },
): CallLimits {
  const { timeouts, clock, at } = options;
  let limit: 'firstByteMs' | 'idleMs' = 'firstByteMs';
  let since = clock.monotonic();
  let isWaiting = true;
  let pending: { readonly until: number; readonly cancel: () => void } | undefined;

  /** One alarm a try: it is set anew only when a limit falls due before it rings. */
  const arm = (): void => {
    const until = since + timeouts[limit];
    if (until === Number.POSITIVE_INFINITY) return;
    if (pending !== undefined && pending.until <= until) return;
    pending?.cancel();
    pending = { until, cancel: alarm(clock, until - clock.monotonic(), ring) };
  };
  const ring = (): void => {
    pending = undefined;
    if (!isWaiting) return;
    if (clock.monotonic() < since + timeouts[limit]) {
      arm();
      return;
    }
    const words = limit === 'idleMs' ? 'no further byte' : 'no byte of an answer';
    call.abort(
      modelTimeout({
        at,
        reason: `${words} within ${timeouts[limit]} ms`,
        mend: `Check the load of the model server, or raise timeouts.${limit}.`,
      }),
    );
  };

  arm();
  return {
    onRead() {
      if (isWaiting) return;
      isWaiting = true;
      since = clock.monotonic();
      arm();
    },
    onBytes() {
      limit = 'idleMs';
      isWaiting = false;
    },
    release() {
      pending?.cancel();
      pending = undefined;
    },
  };
}

/** Rings once after so many milliseconds, unless the function it returns is called before. */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  const sleep = linked();
  const rest = Math.min(Math.max(0, ms), LONGEST_MS);
  clock.sleep(rest, sleep).then(ring, () => undefined);
  return () => sleep.abort(undefined);
}
