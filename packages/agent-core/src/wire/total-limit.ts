import { type Linked, linked, type Stop } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { AgentModel, ModelEvent } from '../model/agent-model.ts';
import { delegate } from '../model/delegate.ts';
import { alarm } from './alarm.ts';
import { limitError } from './limit-error.ts';

/** The limit over whole calls. */
export type TotalLimit = {
  /** Milliseconds; `Infinity` switches the limit off. */
  readonly totalMs: number;
  readonly clock: Clock;
  /** The address, for the error. */
  readonly at: string;
};

/**
 * A model whose calls end in `MODEL_TIMEOUT` after so many milliseconds, whatever happens inside: tries, pauses, silence. Put it
 * around `withRetries`; the error is not retryable. The time of a stream begins with its first read.
 */
export function withTotalLimit(model: AgentModel, limit: TotalLimit): AgentModel {
  if (limit.totalMs === Number.POSITIVE_INFINITY) return model;
  const count = model.countTokens?.bind(model);
  return {
    ...delegate(model, {
      stream: (request, stop) => ({
        [Symbol.asyncIterator]: () =>
          new LimitedStream((call) => model.stream(request, call), { stop, limit }),
      }),
    }),
    ...(count === undefined
      ? {}
      : {
          countTokens: (request, stop) =>
            withinTotalLimit((call) => count(request, call), stop, limit),
        }),
  };
}

/** Work that is no stream, under the same limit: `work` has to end when its own stop says so. */
export async function withinTotalLimit<T>(
  work: (stop: Stop) => Promise<T>,
  stop: Stop,
  limit: TotalLimit,
): Promise<T> {
  const call = begun(stop, limit);
  try {
    return await work(call.link);
  } finally {
    call.release();
  }
}

type LimitedCall = { readonly link: Linked; readonly release: () => void };

function begun({ signal }: Stop, { totalMs, clock, at }: TotalLimit): LimitedCall {
  const link = linked(signal);
  const cancel = alarm(clock, totalMs, () => link.abort(limitError(at, 'totalMs', totalMs)));
  return {
    link,
    release() {
      cancel();
      link.release();
    },
  };
}

type Batches = AsyncIterator<readonly ModelEvent[]>;
type Step = IteratorResult<readonly ModelEvent[]>;

const DONE: Step = { done: true, value: undefined };

/** By hand rather than as a generator: leaving reaches the source also while a read is pending. */
class LimitedStream implements Batches {
  readonly #open: (call: Stop) => AsyncIterable<readonly ModelEvent[]>;
  readonly #stop: Stop;
  readonly #limit: TotalLimit;
  #call: LimitedCall | undefined;
  #source: Batches | undefined;
  #isLeft = false;

  constructor(
    open: (call: Stop) => AsyncIterable<readonly ModelEvent[]>,
    { stop, limit }: { readonly stop: Stop; readonly limit: TotalLimit },
  ) {
    this.#open = open;
    this.#stop = stop;
    this.#limit = limit;
  }

  async next(): Promise<Step> {
    if (this.#isLeft) return DONE;
    this.#call ??= begun(this.#stop, this.#limit);
    const { link, release } = this.#call;
    try {
      this.#source ??= this.#open(link)[Symbol.asyncIterator]();
      const step = await this.#source.next();
      if (step.done === true || step.value.at(-1)?.type === 'finish') release();
      return step;
    } catch (error) {
      release();
      throw error;
    }
  }

  async return(): Promise<Step> {
    this.#isLeft = true;
    this.#call?.release();
    await this.#source?.return?.();
    return DONE;
  }
}
