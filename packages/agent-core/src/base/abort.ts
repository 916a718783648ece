/** What every asynchronous port method takes: rejects with `signal.reason` once it is aborted. */
export type Stop = { readonly signal: AbortSignal };

/** For work that nobody can stop from outside. Following it costs nothing. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** A controller that follows other signals until it is released. It is a `Stop`, and makes its signal when it is asked for. */
export interface Linked {
  readonly signal: AbortSignal;
  readonly aborted: boolean;
  /** Why it was aborted. */
  readonly reason: unknown;
  abort(reason: unknown): void;
  throwIfAborted(): void;
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
  const link = new LinkedController();
  for (const parent of parents) if (parent !== undefined) link.follow(parent);
  return link;
}

class LinkedController implements Linked {
  #controller: AbortController | undefined;
  #followed: { readonly parent: AbortSignal; readonly listener: () => void }[] | undefined;
  #waiting: Set<(reason: unknown) => void> | undefined;
  #aborted = false;
  #reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  follow(parent: AbortSignal): void {
    if (this.#aborted || parent === NEVER_ABORTED) return;
    if (parent.aborted) {
      this.abort(parent.reason);
      return;
    }
    const listener = (): void => this.abort(parent.reason);
    parent.addEventListener('abort', listener, { once: true });
    this.#followed ??= [];
    this.#followed.push({ parent, listener });
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const reject of this.#waiting ?? []) reject(reason);
    this.#waiting = undefined;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  until<T>(work: PromiseLike<T>): Promise<T> {
    if (this.#aborted) return Promise.reject(this.#reason);
    return new Promise<T>((resolve, reject) => {
      this.#waiting ??= new Set();
      const waiting = this.#waiting;
      waiting.add(reject);
      work.then(
        (value) => {
          waiting.delete(reject);
          resolve(value);
        },
        (reason: unknown) => {
          waiting.delete(reject);
          reject(reason);
        },
      );
    });
  }

  release(): void {
    for (const { parent, listener } of this.#followed ?? []) {
      parent.removeEventListener('abort', listener);
    }
    this.#followed = undefined;
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
