import type { AgentModel, ModelEvent } from '@hexagent/agent-core';
import type { TotalLimit } from './total-limit.ts';

type Batches = AsyncIterator<readonly ModelEvent[]>;

/** A model whose every call has a limit of its own, over all that happens inside. */
export function limitedModel(model: AgentModel, limit: TotalLimit): AgentModel {
  const { countTokens } = model;
  return {
    ...model,
    stream: (request, { signal }) => ({
      [Symbol.asyncIterator]: () =>
        limitedBatches(limit, signal, (stop) =>
          model.stream(request, stop)[Symbol.asyncIterator](),
        ),
    }),
    ...(countTokens === undefined
      ? {}
      : {
          countTokens: (request, { signal }) =>
            limitedWork(limit, signal, (stop) => countTokens(request, stop)),
        }),
  };
}

/** The same for work that is no stream. */
export async function limitedWork<T>(
  limit: TotalLimit,
  signal: AbortSignal,
  work: (stop: { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const limited = limit(signal);
  try {
    return await work(limited);
  } finally {
    limited.end();
  }
}

function limitedBatches(
  limit: TotalLimit,
  signal: AbortSignal,
  open: (stop: { readonly signal: AbortSignal }) => Batches,
): Batches {
  const limited = limit(signal);
  const batches = open(limited);
  return {
    async next() {
      try {
        const step = await batches.next();
        if (step.done === true || step.value.at(-1)?.type === 'finish') limited.end();
        return step;
      } catch (error) {
        limited.end();
        throw error;
      }
    },
    async return() {
      limited.end();
      await batches.return?.();
      return { done: true, value: undefined };
    },
  };
}
