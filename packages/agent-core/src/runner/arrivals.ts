import { acceptFailure, acceptValue } from './accept-value.ts';
import type { ActiveRun } from './active-run.ts';
import type { OpenCall } from './open-call.ts';
import type { CallReturn } from './run-call.ts';

type Arrival = { readonly open: OpenCall; readonly returned: CallReturn };

/** Calls that are running, and the ones that have come back. */
export class Arrivals {
  #arrived: Arrival[] = [];
  readonly #expected = new Map<OpenCall, Promise<void>>();
  #waiting: (() => void) | undefined;

  get running(): boolean {
    return this.#expected.size + this.#arrived.length > 0;
  }

  get empty(): boolean {
    return this.#arrived.length === 0;
  }

  add(open: OpenCall, returned: CallReturn): void {
    this.#arrived.push({ open, returned });
    this.wake();
  }

  expect(open: OpenCall, returned: Promise<CallReturn>): void {
    const arrival = returned.then((value) => {
      this.#expected.delete(open);
      this.add(open, value);
    });
    this.#expected.set(open, arrival);
  }

  /** The next call that has come back; one at a time, so that none is forgotten when one of them ends the run. */
  take(): Arrival | undefined {
    return this.#arrived.shift();
  }

  /** Resolves when a call is back, or when somebody wants the batch to be looked at again. */
  some(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  /** After a failure: what runs beside it may finish and is recorded. After an abort only what has come back already is. */
  async settle(run: ActiveRun): Promise<void> {
    await run.abort.until(Promise.all(this.#expected.values())).catch(() => undefined);
    for (let next = this.take(); next !== undefined; next = this.take()) {
      const { open, returned } = next;
      open.running = false;
      if (returned.kind === 'ok') {
        const accepting = acceptValue(run, open, returned.value);
        if (accepting !== undefined) await accepting;
      }
      // What a tool throws once it was told to stop says nothing about its effect.
      if (returned.kind === 'error' && !run.abort.aborted) acceptFailure(run, open, returned.error);
    }
  }
}
