import { type Clock, linked, modelTimeout } from '@hexagent/agent-core/adapter';
import type { Timeouts } from './vllm-options.ts';

/** Watches one try: aborts its signal, with the error to throw, when a limit is passed. */
export interface Deadlines {
  readonly signal: AbortSignal;
  onConnect(): void;
  onBytes(): void;
  /** Stops the clock, and takes the listener off the caller's signal. */
  release(): void;
}

type Phase = {
  readonly limit: 'connectMs' | 'firstByteMs' | 'idleMs';
  readonly words: string;
};

const CONNECT: Phase = { limit: 'connectMs', words: 'no connection' };
const FIRST_BYTE: Phase = { limit: 'firstByteMs', words: 'no byte of an answer' };
const IDLE: Phase = { limit: 'idleMs', words: 'no further byte' };

/** Timers of the platform hold no more than 31 bits of milliseconds. */
const LONGEST_SLEEP = 2 ** 31 - 1;
const RELEASED = new Error('released');

/** The limits of `timeouts` over one try, which begins now; the caller's signal is followed too. */
export function deadlines(options: {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The address, for the error. */
  readonly at: string;
  /** When the call began, by the monotonic clock; earlier tries belong to it. */
  readonly began: number;
}): Deadlines {
  const { timeouts, clock, at, began } = options;
  const link = linked(options.signal);
  let phase = CONNECT;
  let since = clock.monotonic();
  let sleep: { readonly until: number; readonly link: ReturnType<typeof linked> } | undefined;

  const due = (): number => Math.min(since + timeouts[phase.limit], began + timeouts.totalMs);

  /** One sleeper a call: it is woken early only when a limit falls due before it wakes. */
  const arm = (): void => {
    const until = due();
    if (until === Number.POSITIVE_INFINITY || (sleep !== undefined && sleep.until <= until)) return;
    sleep?.link.abort(RELEASED);
    const sleeper = { until, link: linked() };
    sleep = sleeper;
    const rest = Math.min(LONGEST_SLEEP, Math.max(0, until - clock.monotonic()));
    clock.sleep(rest, { signal: sleeper.link.signal }).then(
      () => {
        sleep = undefined;
        if (clock.monotonic() >= due()) link.abort(timeoutOf());
        else arm();
      },
      () => undefined,
    );
  };

  const timeoutOf = (): Error => {
    const isTotal = began + timeouts.totalMs <= since + timeouts[phase.limit];
    const limit = isTotal ? 'totalMs' : phase.limit;
    return modelTimeout({
      at,
      reason: `${isTotal ? 'no complete answer' : phase.words} within ${timeouts[limit]} ms`,
      mend: `Check the load of the model server, or raise timeouts.${limit}.`,
      // The time for the whole call is over: another try has none.
      ...(isTotal ? { retryable: false } : {}),
    });
  };

  const enter = (next: Phase): void => {
    phase = next;
    since = clock.monotonic();
    arm();
  };

  arm();
  return {
    signal: link.signal,
    onConnect: () => enter(FIRST_BYTE),
    onBytes: () => {
      if (phase === IDLE) since = clock.monotonic();
      else enter(IDLE);
    },
    release: () => {
      sleep?.link.abort(RELEASED);
      sleep = undefined;
      link.release();
    },
  };
}
