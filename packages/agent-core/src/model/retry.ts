import { type Linked, linked, type Stop } from '../base/abort.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { AgentModel, ModelEvent, ModelRequest } from './agent-model.ts';
import { noteTry } from './call-notes.ts';
import { delegate } from './delegate.ts';
import { type RetryPolicy, retrying } from './retrying.ts';

export type RetryOptions = {
  /** Tries after the first one. Default 2; 0 turns retrying off. */
  readonly retries?: number;
  readonly clock?: Clock;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
  /** The first pause, about; each further one is twice as long. Default 500. */
  readonly baseMs?: number;
  /** The longest pause of the curve. Default 30,000. */
  readonly maxMs?: number;
  /** A server that asks for a longer wait than this is not waited for. Default 60,000. */
  readonly longestWaitMs?: number;
};

/**
 * A model that is asked again after a retryable error, as long as nothing of its answer has been handed out; what
 * somebody has seen is the runner's to take back. `countTokens` likewise. Adapters apply it to their models, so that
 * whoever uses one sees one call; nothing else retries.
 */
export function withRetries(model: AgentModel, options: RetryOptions = {}): AgentModel {
  const { retries = 2, clock = systemClock, random = Math.random, ...pauses } = options;
  if (retries <= 0) return model;
  const policy = { retries, clock, random, ...pauses };
  const count = model.countTokens?.bind(model);
  return {
    ...delegate(model, {
      stream: (request, stop) => ({
        [Symbol.asyncIterator]: () => new RetriedStream(model, { request, stop, policy }),
      }),
    }),
    ...(count === undefined
      ? {}
      : {
          countTokens: (request, stop) =>
            retrying(() => count(request, stop), { ...policy, signal: stop.signal }),
        }),
  };
}

type Batches = AsyncIterator<readonly ModelEvent[]>;
type Step = IteratorResult<readonly ModelEvent[]>;

const DONE: Step = { done: true, value: undefined };

/** Opens the stream until its first batch is there; from then on its reads go straight through. */
class RetriedStream implements AsyncIterableIterator<readonly ModelEvent[]> {
  readonly #model: AgentModel;
  readonly #request: ModelRequest;
  readonly #stop: Stop;
  readonly #policy: Omit<RetryPolicy, 'signal'>;
  #source: Batches | undefined;
  #opening: Promise<Step> | undefined;
  #pausing: Linked | undefined;
  #hasBegun = false;
  #isOver = false;

  constructor(
    model: AgentModel,
    options: {
      readonly request: ModelRequest;
      readonly stop: Stop;
      readonly policy: Omit<RetryPolicy, 'signal'>;
    },
  ) {
    this.#model = model;
    this.#request = options.request;
    this.#stop = options.stop;
    this.#policy = options.policy;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#hasBegun) return (this.#source as Batches).next();
    if (this.#isOver) return Promise.resolve(DONE);
    if (this.#opening === undefined) {
      this.#opening = this.#open();
      return this.#opening;
    }
    const again = (): Promise<Step> => this.next();
    return this.#opening.then(again, again);
  }

  async return(): Promise<Step> {
    this.#isOver = true;
    this.#pausing?.abort(undefined);
    await this.#source?.return?.();
    return DONE;
  }

  async #open(): Promise<Step> {
    const { signal } = this.#stop;
    const policy = { ...this.#policy, clock: this.#clock(), signal };
    try {
      const first = await retrying((attempt) => this.#attempt(attempt), policy);
      this.#hasBegun = !this.#isOver;
      return first;
    } catch (error) {
      if (this.#isOver) return DONE;
      this.#isOver = true;
      throw error;
    }
  }

  #attempt(attempt: number): Promise<Step> {
    if (attempt > 1) noteTry(this.#request);
    this.#source = this.#model.stream(this.#request, this.#stop)[Symbol.asyncIterator]();
    return this.#source.next();
  }

  /** The clock of the policy, whose pauses also end when the reader leaves. */
  #clock(): Clock {
    const { clock } = this.#policy;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: async (ms, { signal }) => {
        if (this.#isOver) throw OVER;
        this.#pausing = linked(signal);
        try {
          await clock.sleep(ms, this.#pausing);
        } finally {
          this.#pausing.release();
          this.#pausing = undefined;
        }
      },
    };
  }
}

const OVER: Error = new Error('Nobody waits for this answer any more.');
