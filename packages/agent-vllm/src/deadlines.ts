import { type Clock, modelTimeout, onAbort } from '@hexagent/agent-core/adapter';
import type { Alarm } from './alarm.ts';
import type { Exit } from './exit.ts';
import type { Timeouts } from './vllm-options.ts';

/**
 * What stops one try: the caller, the reader, or a limit. Lighter than an `AbortController`, of which a request
 * could have three; one listener at a time, because a try waits for one thing at a time.
 */
export interface Watch {
  /** Why the try was stopped. */
  readonly stopped: { readonly reason: unknown } | undefined;
  /** Who is told of a stop; undefined for nobody. Told at once when it is too late. */
  listen(listener: ((reason: unknown) => void) | undefined): void;
  onConnect(): void;
  /** A read waits for bytes. While none does, the limit between bytes stands still: a slow reader is not a silent server. */
  onRead(): void;
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

const LEFT = new Error('the reader has left');

/** The limits of `timeouts` over one try, which begins now, but for that of the whole call; the caller's signal is followed too. */
export function deadlines(options: {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  readonly exit?: Exit;
  /** The address, for the error. */
  readonly at: string;
}): Watch {
  const { timeouts, clock, alarm, signal, exit, at } = options;
  let phase = CONNECT;
  let since = clock.monotonic();
  let isWaiting = true;
  let pending: { readonly until: number; readonly cancel: () => void } | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  let listener: ((reason: unknown) => void) | undefined;
  let unfollow: (() => void) | undefined;

  const due = (): number => since + timeouts[phase.limit];

  /** One alarm a try: it is set anew only when a limit falls due before it rings. */
  const arm = (): void => {
    const until = due();
    if (until === Number.POSITIVE_INFINITY) return;
    if (pending !== undefined && pending.until <= until) return;
    pending?.cancel();
    pending = { until, cancel: alarm(Math.max(0, until - clock.monotonic()), ring) };
  };

  const ring = (): void => {
    pending = undefined;
    if (!isWaiting) return;
    if (clock.monotonic() >= due()) stop(timeoutOf(phase));
    else arm();
  };

  const timeoutOf = ({ limit, words }: Phase): Error =>
    modelTimeout({
      at,
      reason: `${words} within ${timeouts[limit]} ms`,
      mend: `Check the load of the model server, or raise timeouts.${limit}.`,
    });

  const stop = (reason: unknown): void => {
    release();
    stopped = { reason };
    listener?.(reason);
  };
  const onLeave = (): void => stop(LEFT);
  const release = (): void => {
    pending?.cancel();
    pending = undefined;
    unfollow?.();
    exit?.listen(undefined);
  };
  const enter = (next: Phase): void => {
    phase = next;
    since = clock.monotonic();
    arm();
  };

  if (signal.aborted) stopped = { reason: signal.reason };
  else if (exit?.isTaken) stopped = { reason: LEFT };
  else {
    exit?.listen(onLeave);
    unfollow = onAbort(signal, () => stop(signal.reason));
    arm();
  }
  return {
    get stopped() {
      return stopped;
    },
    listen(next) {
      listener = next;
      if (stopped !== undefined) next?.(stopped.reason);
    },
    onConnect: () => {
      if (stopped === undefined) enter(FIRST_BYTE);
    },
    onRead: () => {
      if (isWaiting || stopped !== undefined) return;
      isWaiting = true;
      since = clock.monotonic();
      arm();
    },
    onBytes: () => {
      phase = IDLE;
      isWaiting = false;
    },
    release,
  };
}
