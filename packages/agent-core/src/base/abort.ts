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

/** The reason of an abort without one, as of a timer that nobody needs any more. The platform would make an error, with its stack, each time. */
const OVER: Error = new Error('Nobody waits for this any more.');

class LinkedController implements Linked {
  #controller: AbortController | undefined;
  #followed: (() => void)[] | undefined;
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
    this.#followed ??= [];
    this.#followed.push(onAbort(parent, () => this.abort(parent.reason)));
  }

  abort(reason: unknown = OVER): void {
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
    if (this.#aborted) {
      unheard(work);
      return Promise.reject(this.#reason);
    }
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
    for (const leave of this.#followed ?? []) leave();
    this.#followed = undefined;
  }
}

/** Settles like `work`, or rejects with the signal's reason if that comes first; no listener is left behind. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      unheard(work);
      reject(signal.reason);
      return;
    }
    const leave = onAbort(signal, () => reject(signal.reason));
    work.then(
      (value) => {
        leave();
        resolve(value);
      },
      (reason: unknown) => {
        leave();
        reject(reason);
      },
    );
  });
}

/** Nobody waits for this work any more: that it fails later is no news to anybody. */
function unheard(work: PromiseLike<unknown>): void {
  work.then(undefined, () => undefined);
}

/** Who is told when one signal is aborted, and the one listener that tells them. */
type Audience = { readonly members: Set<() => void>; readonly tell: () => void };

const audiences = new WeakMap<AbortSignal, Audience>();

/**
 * Calls `told`, a function made for this one purpose, when a signal is aborted that is not yet. The answer takes it
 * back. However many ask, a signal gets one listener: platforms warn of more than ten as of a leak, and a thousand
 * runs under the signal of one server are none.
 */
export function onAbort(signal: AbortSignal, told: () => void): () => void {
  const { members, tell } = audiences.get(signal) ?? newAudience(signal);
  members.add(told);
  return () => {
    if (!members.delete(told) || members.size > 0) return;
    signal.removeEventListener('abort', tell);
    audiences.delete(signal);
  };
}

function newAudience(signal: AbortSignal): Audience {
  const members = new Set<() => void>();
  const tell = (): void => {
    for (const told of members) told();
    members.clear();
    audiences.delete(signal);
  };
  signal.addEventListener('abort', tell, { once: true });
  const audience = { members, tell };
  audiences.set(signal, audience);
  return audience;
}
