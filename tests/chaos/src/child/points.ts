import { writeSync } from 'node:fs';
import type { Said, Stop } from './order.ts';

/** Says that the process has come to a point; resolves when it may go on. */
export type Reach = (point: string) => Promise<void>;

/** Written at once: whoever says it may be killed in the next moment. */
export function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

/** The points at which this process is killed, frozen or held. */
export function pointsOf(stops: readonly Stop[]): Reach {
  const counts = new Map<string, number>();
  return async (point) => {
    const count = (counts.get(point) ?? 0) + 1;
    counts.set(point, count);
    const stop = stops.find(({ at, nth = 1 }) => at === point && nth === count);
    if (stop === undefined) return;
    say({ at: point });
    if (stop.how === 'hold') return toldToGoOn();
    process.kill(process.pid, stop.how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  };
}

const waiting: (() => void)[] = [];
let isListening = false;

/** Each line on stdin lets one of those who wait go on. */
function toldToGoOn(): Promise<void> {
  if (!isListening) {
    isListening = true;
    process.stdin.on('data', () => waiting.shift()?.());
    process.stdin.unref();
  }
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}
