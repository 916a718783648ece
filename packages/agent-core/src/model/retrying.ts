import type { Clock } from '../base/clock.ts';
import { AgentError } from '../base/error.ts';
import { backOff } from './back-off.ts';

export type RetryPolicy = {
  /** Tries after the first one. */
  readonly retries: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly baseMs?: number;
  readonly maxMs?: number;
  /** A server that asks for a longer wait than this is not waited for: its error is thrown with `retryAfterMs`. */
  readonly longestWaitMs?: number;
};

/**
 * Does the work, again after a retryable `AgentError`, with a pause between. The work ends where its
 * first event is known: what has been shown to somebody is not for this function to take back.
 * Rejects with `signal.reason` once aborted, also in a pause.
 */
export async function retrying<T>(
  work: (attempt: number) => Promise<T>,
  policy: RetryPolicy,
): Promise<T> {
  const { retries, clock, random, signal, baseMs, maxMs, longestWaitMs = 60_000 } = policy;
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      signal.throwIfAborted();
      if (!AgentError.is(error) || !error.retryable || attempt > retries) throw error;
      const { retryAfterMs } = error;
      if (retryAfterMs !== undefined && retryAfterMs > longestWaitMs) throw error;
      const pause = backOff({
        attempt,
        random,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(baseMs === undefined ? {} : { baseMs }),
        ...(maxMs === undefined ? {} : { maxMs }),
      });
      await clock.sleep(pause, { signal });
    }
  }
}
