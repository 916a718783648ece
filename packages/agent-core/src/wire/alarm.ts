import { linked } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';

/** Timers of the platform hold no more than 31 bits of milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

const nothing = (): void => undefined;

/**
 * Rings once after so many milliseconds, unless the function it answers is called before. `Infinity` never rings, and a time may
 * be longer than a timer of the platform. On the platform's clock it is a bare timer, because one is set for every request.
 */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return nothing;
  const set = clock === systemClock ? timer : sleeper(clock);
  let cancel = nothing;
  const wait = (left: number): void => {
    const part = Math.min(Math.max(0, left), LONGEST_MS);
    cancel = set(part, left > part ? () => wait(left - part) : ring);
  };
  wait(ms);
  return () => cancel();
}

function timer(ms: number, ring: () => void): () => void {
  const set = setTimeout(ring, ms);
  return () => clearTimeout(set);
}

function sleeper(clock: Clock): typeof timer {
  return (ms, ring) => {
    const sleep = linked();
    const wake = (): void => {
      if (!sleep.aborted) ring();
    };
    clock.sleep(ms, sleep).then(wake, nothing);
    return () => sleep.abort(undefined);
  };
}
