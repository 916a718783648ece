import { type AnswerLimits, answerLimits, type Clock, onAbort } from '@hexagent/agent-core/adapter';
import type { Timeouts } from './vllm-options.ts';

/**
 * What stops one try: its signal, or a limit. Lighter than another `AbortController`; one listener at a time, because a try
 * waits for one thing at a time.
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
  /** Stops the clock, and takes the listener off the signal. */
  release(): void;
}

/** The limits of `timeouts` over one try, which begins now, but for that of the whole call; the signal is followed too. */
export function deadlines(options: {
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The address, for the error. */
  readonly at: string;
}): Watch {
  const { timeouts, clock, signal, at } = options;
  let limits: AnswerLimits | undefined;
  let stopped: { readonly reason: unknown } | undefined;
  let listener: ((reason: unknown) => void) | undefined;
  let unfollow: (() => void) | undefined;

  const release = (): void => {
    limits?.release();
    unfollow?.();
  };
  const stop = (reason: unknown): void => {
    release();
    stopped = { reason };
    listener?.(reason);
  };

  if (signal.aborted) stopped = { reason: signal.reason };
  else {
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
