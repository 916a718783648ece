/** The reader's way out of a call, beside the caller's signal: lighter than an `AbortController` for each call. */
export interface Exit {
  readonly isTaken: boolean;
  /** Who is told that the reader leaves; one at a time. */
  listen(listener: (() => void) | undefined): void;
  take(): void;
}

export function exitOf(): Exit {
  let isTaken = false;
  let listener: (() => void) | undefined;
  return {
    get isTaken() {
      return isTaken;
    },
    listen(next) {
      listener = next;
    },
    take() {
      isTaken = true;
      listener?.();
    },
  };
}
