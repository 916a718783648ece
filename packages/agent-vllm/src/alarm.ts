import { type Clock, systemClock } from '@hexagent/agent-core/adapter';

/** Rings once after so many milliseconds, unless the function it returns is called before. */
export type Alarm = (ms: number, ring: () => void) => () => void;

/** Timers of the platform hold no more than 31 bits of milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;
const CANCELLED = new Error('cancelled');

/** The alarm of a clock. The platform's clock rings by a bare timer: one is set for every request. */
export function alarmOf(clock: Clock): Alarm {
  if (clock === systemClock) {
    return (ms, ring) => {
      const timer = setTimeout(ring, Math.min(ms, LONGEST_MS));
      return () => clearTimeout(timer);
    };
  }
  return (ms, ring) => {
    const sleep = new AbortController();
    clock.sleep(Math.min(ms, LONGEST_MS), { signal: sleep.signal }).then(ring, () => undefined);
    return () => sleep.abort(CANCELLED);
  };
}
