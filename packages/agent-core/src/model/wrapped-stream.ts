import { type Linked, linked, type Stop } from '../base/abort.ts';
import type { ModelEvent } from './agent-model.ts';

export type Batch = readonly ModelEvent[];
export type Batches = AsyncIterator<Batch>;
export type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** How a stream has ended: `left` by its reader, before its end. */
export type StreamEnd =
  | { readonly kind: 'finished'; readonly finish: Finish | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'left' };

export type StreamWrapping = {
  /** Gets the stream to read from; may wait. Its signal is also aborted when the reader leaves. */
  readonly open: (stop: Stop) => Batches | Promise<Batches>;
  readonly seen?: (batch: Batch) => Batch;
  /** Called once, as soon as the end is known. Answers the error to throw in place of another. */
  readonly ended: (end: StreamEnd) => unknown;
};

type Step = IteratorResult<Batch>;

const DONE: Step = { done: true, value: undefined };

/** A stream around another one, which may have to be waited for: leaving it ends a pending read, wherever that waits. */
export function wrappedStream({ signal }: Stop, wrapping: StreamWrapping): AsyncIterable<Batch> {
  return { [Symbol.asyncIterator]: () => new WrappedStream(signal, wrapping) };
}

class WrappedStream implements Batches {
  readonly #signal: AbortSignal;
  readonly #wrapping: StreamWrapping;
  #link: Linked | undefined;
  #source: Batches | undefined;
  #pending: Promise<Step> | undefined;
  #isOver = false;
  #isEnded = false;

  constructor(signal: AbortSignal, wrapping: StreamWrapping) {
    this.#signal = signal;
    this.#wrapping = wrapping;
  }

  next(): Promise<Step> {
    const before = this.#pending;
    const step = before === undefined ? this.#step() : after(before, () => this.#step());
    this.#pending = step;
    const clear = (): void => {
      if (this.#pending === step) this.#pending = undefined;
    };
    step.then(clear, clear);
    return step;
  }

  async return(): Promise<Step> {
    this.#isOver = true;
    this.#link?.abort(undefined);
    this.#end({ kind: 'left' });
    await this.#source?.return?.();
    return DONE;
  }

  async #step(): Promise<Step> {
    if (this.#isOver) return DONE;
    try {
      this.#source ??= await this.#opened();
      const step = await this.#source.next();
      if (this.#isOver) return DONE;
      if (step.done === true) {
        this.#isOver = true;
        this.#end({ kind: 'finished', finish: undefined });
        return DONE;
      }
      const batch = this.#wrapping.seen?.(step.value) ?? step.value;
      const last = batch.at(-1);
      if (last?.type === 'finish') this.#end({ kind: 'finished', finish: last });
      return { done: false, value: batch };
    } catch (error) {
      if (this.#isOver) return DONE;
      this.#isOver = true;
      throw this.#end({ kind: 'failed', error }) ?? error;
    }
  }

  async #opened(): Promise<Batches> {
    this.#link = linked(this.#signal);
    const source = await this.#wrapping.open(this.#link);
    // Its reader has left while it was being opened: nobody else would close it.
    if (this.#isOver) await source.return?.();
    return source;
  }

  #end(end: StreamEnd): unknown {
    this.#link?.release();
    if (this.#isEnded) return undefined;
    this.#isEnded = true;
    return this.#wrapping.ended(end);
  }
}

function after<T>(before: Promise<unknown>, next: () => Promise<T>): Promise<T> {
  return before.then(next, next);
}
