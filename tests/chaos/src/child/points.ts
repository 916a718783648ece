import { writeSync } from 'node:fs';
import type { Said, Stop } from './order.ts';

/** Says that the process has come to a point, in a step of the run; resolves when it may go on. */
export type Reach = (point: string, step?: number) => Promise<void>;

/** Written at once: whoever says it may be killed in the next moment. */
export function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

/** The points at which this process is killed, frozen or held. */
export function pointsOf(stops: readonly Stop[]): Reach {
  const left = new Set(stops);
  return async (point, inStep) => {
    const stop = [...left].find(({ at, step = inStep }) => at === point && step === inStep);
    if (stop === undefined) return;
    left.delete(stop);
    say({ at: point });
    if (stop.how === 'hold') return toldToGoOn();
    process.kill(process.pid, stop.how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  };
}

const waiting: (() => void)[] = [];

/** Each line on stdin lets one of those who wait go on. */
function toldToGoOn(): Promise<void> {
  if (waiting.length === 0) process.stdin.on('data', goOn).ref().resume();
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

/** Nobody listens while nobody waits: the process could not end. */
function goOn(): void {
  waiting.shift()?.();
  if (waiting.length === 0) process.stdin.off('data', goOn).pause().unref();
}
