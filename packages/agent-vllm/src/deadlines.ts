import { type AnswerLimits, answerLimits, type Clock, onAbort } from '@hexagent/agent-core/adapter';
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

const LEFT = new Error('the reader has left');

/** The limits of `timeouts` over one try, which begins now, but for that of the whole call; the caller's signal is followed too. */
export function deadlines(options: {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly exit?: Exit;
  /** The address, for the error. */
  readonly at: string;
}): Watch {
  const { timeouts, clock, signal, exit, at } = options;
  let limits: AnswerLimits | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  let listener: ((reason: unknown) => void) | undefined;
  let unfollow: (() => void) | undefined;

  const release = (): void => {
    limits?.release();
    unfollow?.();
    exit?.listen(undefined);
  };
  const stop = (reason: unknown): void => {
    release();
    stopped = { reason };
    listener?.(reason);
  };

  if (signal.aborted) stopped = { reason: signal.reason };
  else if (exit?.isTaken) stopped = { reason: LEFT };
  else {
    exit?.listen(() => stop(LEFT));
    unfollow = onAbort(signal, () => stop(signal.reason));
    limits = answerLimits({ timeouts, clock, at, ring: stop });
  }
  return {
    get stopped() {
      return stopped;
    },
    listen(next) {
      listener = next;
      if (stopped !== undefined) next?.(stopped.reason);
    },
    onConnect: () => limits?.onConnect(),
    onRead: () => limits?.onRead(),
    onBytes: () => limits?.onBytes(),
    release,
  };
}
