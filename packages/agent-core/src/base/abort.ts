/** What every asynchronous port method takes: rejects with `signal.reason` once it is aborted. */
export type Stop = { readonly signal: AbortSignal };

/** A controller that follows other signals until it is released. */
export type Linked = {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Removes every listener that this link has put on its parents. Call it in `finally`. */
  release(): void;
};

/**
 * Joins signals into one that can also be aborted by itself. `AbortSignal.any` is not used: under a
 * long-lived parent it keeps about a kilobyte a run for as long as anybody listens.
 */
export function linked(...parents: readonly (AbortSignal | undefined)[]): Linked {
  const controller = new AbortController();
  const followed: { readonly parent: AbortSignal; readonly listener: () => void }[] = [];
  for (const parent of parents) {
    if (parent === undefined) continue;
    if (parent.aborted) {
      controller.abort(parent.reason);
      break;
    }
    const listener = (): void => controller.abort(parent.reason);
    parent.addEventListener('abort', listener, { once: true });
    followed.push({ parent, listener });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const { parent, listener } of followed) parent.removeEventListener('abort', listener);
      followed.length = 0;
    },
  };
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
