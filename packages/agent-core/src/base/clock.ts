import { onAbort, type Stop } from './abort.ts';

/** Epoch milliseconds: the form of every stored instant. */
export type Instant = number;

/** Time as a port; tests need no sleeping. */
export interface Clock {
  /** The wall clock, in epoch milliseconds. */
  now(): Instant;
  /** Milliseconds of a clock that never jumps; only differences mean something. */
  monotonic(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason. */
  sleep(ms: number, stop: Stop): Promise<void>;
}

/** The platform's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, { signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const timer = setTimeout(() => {
        leave();
        resolve();
      }, ms);
      const leave = onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};
