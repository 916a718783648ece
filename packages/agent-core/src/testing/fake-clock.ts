import { onAbort } from '../base/abort.ts';
import type { Clock, Instant } from '../base/clock.ts';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /**
   * Moves both clocks on, in milliseconds. Sleepers that become due resolve in the order of their
   * instants, each at its own instant; what they do next has run when the promise resolves.
   */
  advance(ms: number): Promise<void>;
}

type Sleeper = { readonly at: Instant; readonly wake: () => void };

/** A clock for tests. It starts at `start` (epoch milliseconds), or at an arbitrary fixed instant. */
export function fakeClock(start: Instant = 1_700_000_000_000): FakeClock {
  let now = start;
  const sleepers = new Set<Sleeper>();

  const dueBefore = (end: Instant): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.at <= end && (first === undefined || sleeper.at < first.at)) first = sleeper;
    }
    return first;
  };

  return {
    now: () => now,
    monotonic: () => now - start,
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        const sleeper: Sleeper = {
          at: now + Math.max(0, ms),
          wake: () => {
            sleepers.delete(sleeper);
            leave();
            resolve();
          },
        };
        sleepers.add(sleeper);
        const leave = onAbort(signal, () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    advance: async (ms) => {
      const end = now + ms;
      for (let due = dueBefore(end); due !== undefined; due = dueBefore(end)) {
        now = Math.max(now, due.at);
        due.wake();
        await settled();
      }
      now = end;
      await settled();
    },
  };
}

/** A turn of the event loop: every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
