import type { AgentModel, ModelEvent } from '@hexagent/agent-core';
import { type Clock, linked } from '@hexagent/agent-core/adapter';
import { alarm, timeoutError } from './deadlines.ts';

type Batch = readonly ModelEvent[];

/** A model whose streams, tries and pauses included, are over after so many milliseconds. */
export function withTotalLimit(
  model: AgentModel,
  options: { readonly totalMs: number; readonly clock: Clock; readonly at: string },
): AgentModel {
  const { totalMs } = options;
  if (totalMs === Number.POSITIVE_INFINITY) return model;
  return {
    ...model,
    stream: (request, { signal }) => ({
      [Symbol.asyncIterator]: () =>
        limited((inner) => model.stream(request, { signal: inner }), { ...options, signal }),
    }),
  };
}

/** By hand rather than as a generator: leaving reaches the source also while a read is pending. */
function limited(
  open: (signal: AbortSignal) => AsyncIterable<Batch>,
  options: {
    readonly totalMs: number;
    readonly clock: Clock;
    readonly at: string;
    readonly signal: AbortSignal;
  },
): AsyncIterator<Batch> {
  const { totalMs, clock, at, signal } = options;
  const link = linked(signal);
  const cancel = alarm(clock, totalMs, () => link.abort(timeoutError(at, 'totalMs', totalMs)));
  const release = (): void => {
    cancel();
    link.release();
  };
  const source = open(link.signal)[Symbol.asyncIterator]();
  return {
    async next() {
      try {
        const step = await source.next();
        if (step.done === true || step.value.at(-1)?.type === 'finish') release();
        return step;
      } catch (error) {
        release();
        throw error;
      }
    },
    async return() {
      release();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}
