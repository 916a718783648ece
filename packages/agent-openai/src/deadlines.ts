import {
  type AgentError,
  type Clock,
  modelTimeout,
  systemClock,
} from '@hexagent/agent-core/adapter';

/** Milliseconds. `Infinity` switches a limit off. */
export type Timeouts = {
  /** From the request to the first byte of the answer: connecting counts, and a long prompt may take minutes. */
  readonly firstByteMs: number;
  /** Between two bytes; comments count as life. */
  readonly idleMs: number;
  /** For the whole call, retries and their pauses included. */
  readonly totalMs: number;
};

/** The limits over the bytes of one answer. The official client has one for the headers only. */
export interface Deadlines {
  onBytes(): void;
  release(): void;
}

/** Timers of the platform hold no more than 31 bits of milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** Begins to watch now; calls `ring` once, with the error, when a limit passes. */
export function deadlines(options: {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  /** The address, for the error. */
  readonly at: string;
  readonly ring: (error: AgentError) => void;
}): Deadlines {
  const { timeouts, clock, at, ring } = options;
  let limit: 'firstByteMs' | 'idleMs' = 'firstByteMs';
  let since = clock.monotonic();
  let cancel: (() => void) | undefined;
  let isReleased = false;

  /** One alarm at a time; bytes only move the time that it is compared with. */
  const arm = (): void => {
    const left = since + timeouts[limit] - clock.monotonic();
    if (left === Number.POSITIVE_INFINITY) return;
    cancel = alarm(clock, Math.max(0, left), () => {
      if (isReleased) return;
      if (clock.monotonic() - since < timeouts[limit]) arm();
      else ring(timeoutError(at, limit, timeouts[limit]));
    });
  };
  arm();
  return {
    onBytes() {
      since = clock.monotonic();
      if (limit === 'idleMs' || isReleased) return;
      limit = 'idleMs';
      cancel?.();
      arm();
    },
    release() {
      isReleased = true;
      cancel?.();
    },
  };
}

const WORDS = {
  firstByteMs: 'no byte of an answer',
  idleMs: 'no further byte',
  totalMs: 'no complete answer',
} as const;

export function timeoutError(at: string, limit: keyof Timeouts, ms: number): AgentError {
  return modelTimeout({
    at,
    reason: `${WORDS[limit]} within ${ms} ms`,
    mend: `Check the status of the provider, or raise timeouts.${limit}.`,
    // The time for the whole call is over: another try has none.
    ...(limit === 'totalMs' ? { retryable: false } : {}),
  });
}

/** Calls back after so many milliseconds, unless the function it answers is called before. */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  const wait = Math.min(ms, LONGEST_MS);
  if (clock === systemClock) {
    const timer = setTimeout(ring, wait);
    return () => clearTimeout(timer);
  }
  const sleep = new AbortController();
  clock.sleep(wait, { signal: sleep.signal }).then(ring, () => undefined);
  return () => sleep.abort();
}
