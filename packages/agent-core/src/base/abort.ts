/** What every asynchronous port method takes: rejects with `signal.reason` once it is aborted. */
export type Stop = { readonly signal: AbortSignal };

/** A controller that follows other signals until it is released. */
export interface Linked {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Settles like `work`, or rejects with the reason of the abort if that comes first. Cheaper than a listener on the signal. */
  until<T>(work: PromiseLike<T>): Promise<T>;
  /** Removes every listener that this link has put on its parents. Call it in `finally`. */
  release(): void;
}

/**
 * Joins signals into one that can also be aborted by itself. `AbortSignal.any` is not used: under a
 * long-lived parent it keeps about a kilobyte a run for as long as anybody listens.
 */
export function linked(...parents: readonly (AbortSignal | undefined)[]): Linked {
  return new LinkedController(parents);
}

class LinkedController implements Linked {
  readonly #controller = new AbortController();
  readonly #followed: { readonly parent: AbortSignal; readonly listener: () => void }[] = [];
  readonly #pending = new Set<(reason: unknown) => void>();

  constructor(parents: readonly (AbortSignal | undefined)[]) {
    for (const parent of parents) {
      if (parent === undefined) continue;
      if (parent.aborted) {
        this.#controller.abort(parent.reason);
        break;
      }
      const listener = (): void => this.abort(parent.reason);
      parent.addEventListener('abort', listener, { once: true });
      this.#followed.push({ parent, listener });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(reason);
    for (const reject of this.#pending) reject(this.signal.reason);
    this.#pending.clear();
  }

  until<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.signal.aborted) {
        reject(this.signal.reason);
        return;
      }
      this.#pending.add(reject);
      work.then(
        (value) => {
          this.#pending.delete(reject);
          resolve(value);
        },
        (reason: unknown) => {
          this.#pending.delete(reject);
          reject(reason);
        },
      );
    });
  }

  release(): void {
    for (const { parent, listener } of this.#followed)
      parent.removeEventListener('abort', listener);
    this.#followed.length = 0;
  }
}

/** Settles like `work`, or rejects with the signal's reason if that comes first; no listener is left behind. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (reason: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(reason);
      },
    );
  });
}
