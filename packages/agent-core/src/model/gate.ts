import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

const MINUTE = 60_000;

export type GateLimits = {
  readonly concurrency?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
};

/** What somebody has who was let in, to leave with once; `tokens` is what it took in the end, where that is known. */
export type Pass = { readonly leave: (tokens?: number) => void };

type Waiting = { readonly tokens: number; readonly admit: () => void };

/** Lets calls in, in the order in which they came, as fast as its limits allow. */
export class Gate {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #requests: Bucket | undefined;
  readonly #tokens: Bucket | undefined;
  readonly #queue: Waiting[] = [];
  #running = 0;
  #timer: AbortController | undefined;

  constructor({ concurrency, requestsPerMinute, tokensPerMinute }: GateLimits, clock: Clock) {
    this.#clock = clock;
    this.#most = concurrency ?? Number.POSITIVE_INFINITY;
    this.#requests = requestsPerMinute === undefined ? undefined : new Bucket(requestsPerMinute);
    this.#tokens = tokensPerMinute === undefined ? undefined : new Bucket(tokensPerMinute);
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when it is this call's turn; once aborted it leaves the queue and rejects with the signal's reason. */
  enter(tokens: number, signal: AbortSignal): Promise<Pass> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const waiting: Waiting = {
        tokens,
        admit: () => {
          stay();
          resolve(this.#pass(tokens));
        },
      };
      const stay = onAbort(signal, () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal.reason);
        this.#admit();
      });
      this.#queue.push(waiting);
      this.#admit();
    });
  }

  #pass(estimated: number): Pass {
    return {
      leave: (tokens = estimated) => {
        this.#running -= 1;
        this.#tokens?.take(tokens - estimated, this.#clock.monotonic());
        this.#admit();
      },
    };
  }

  #admit(): void {
    this.#timer?.abort();
    this.#timer = undefined;
    for (;;) {
      const [head] = this.#queue;
      if (head === undefined || this.#running >= this.#most) return;
      const now = this.#clock.monotonic();
      const wait = Math.max(
        this.#requests?.waitFor(1, now) ?? 0,
        this.#tokens?.waitFor(head.tokens, now) ?? 0,
      );
      if (wait > 0) {
        this.#lookAgain(wait);
        return;
      }
      this.#requests?.take(1, now);
      this.#tokens?.take(head.tokens, now);
      this.#running += 1;
      this.#queue.shift();
      head.admit();
    }
  }

  #lookAgain(ms: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    this.#clock.sleep(ms, timer).then(
      () => this.#admit(),
      () => undefined,
    );
  }
}

/** So many a minute, refilled all the time; what costs more than it can hold waits until it is full. */
class Bucket {
  readonly #capacity: number;
  #level: number;
  #at: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#level = capacity;
  }

  waitFor(count: number, now: number): number {
    this.#refill(now);
    const missing = Math.min(count, this.#capacity) - this.#level;
    return missing <= 0 ? 0 : Math.ceil((missing * MINUTE) / this.#capacity);
  }

  take(count: number, now: number): void {
    this.#refill(now);
    this.#level = Math.min(this.#capacity, this.#level - count);
  }

  #refill(now: number): void {
    const passed = now - (this.#at ?? now);
    this.#level = Math.min(this.#capacity, this.#level + (passed * this.#capacity) / MINUTE);
    this.#at = now;
  }
}
