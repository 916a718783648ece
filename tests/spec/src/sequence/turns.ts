import type { Clock } from '@hexagent/agent-core';

/** Time that passes when the driver of a schedule says so: every sleep ends with the next turn. */
export class Turns implements Clock {
  #sleeping: (() => void)[] = [];

  now(): number {
    return 0;
  }

  monotonic(): number {
    return 0;
  }

  sleep(_ms: number, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#sleeping.push(() => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
    });
  }

  /** Ends every sleep, and resolves when all that follows at once from that has happened. */
  async next(): Promise<void> {
    const sleeping = this.#sleeping;
    this.#sleeping = [];
    for (const wake of sleeping) wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
