import type { AgentModel, ModelEvent, Stop } from '@hexagent/agent-core';
import { type Clock, type Linked, linked, modelTimeout } from '@hexagent/agent-core/adapter';
import { alarm } from './call-limits.ts';

type Step = IteratorResult<readonly ModelEvent[]>;

/** A model whose calls end in `MODEL_TIMEOUT` after so many milliseconds, whatever happens inside: tries, pauses, silence. */
export function withTotalLimit(
  model: AgentModel,
  options: { readonly totalMs: number; readonly clock: Clock; readonly at: string },
): AgentModel {
  const { totalMs, clock, at } = options;
  if (totalMs === Number.POSITIVE_INFINITY) return model;
  const begin = ({ signal }: Stop): { readonly call: Linked; readonly release: () => void } => {
    const call = linked(signal);
    const cancel = alarm(clock, totalMs, () =>
      call.abort(
        modelTimeout({
          at,
          reason: `no complete answer within ${totalMs} ms`,
          mend: 'Check the load of the model server, or raise timeouts.totalMs.',
          // The time for the whole call is over: another try has none.
          retryable: false,
        }),
      ),
    );
    const release = (): void => {
      cancel();
      call.release();
    };
    return { call, release };
  };
  const count = model.countTokens?.bind(model);
  return {
    ...model,
    stream: (request, stop) => ({
      [Symbol.asyncIterator]: () =>
        limited(
          (call) => model.stream(request, call),
          () => begin(stop),
        ),
    }),
    ...(count === undefined
      ? {}
      : {
          async countTokens(request, stop) {
            const { call, release } = begin(stop);
            try {
              return await count(request, call);
            } finally {
              release();
            }
          },
        }),
  };
}

/** The time begins with the first read. */
function limited(
  open: (call: Linked) => AsyncIterable<readonly ModelEvent[]>,
  begin: () => { readonly call: Linked; readonly release: () => void },
): AsyncIterator<readonly ModelEvent[]> {
  let source: AsyncIterator<readonly ModelEvent[]> | undefined;
  let release: () => void = () => undefined;
  return {
    async next(): Promise<Step> {
      if (source === undefined) {
        const begun = begin();
        release = begun.release;
        source = open(begun.call)[Symbol.asyncIterator]();
      }
      try {
        const step = await source.next();
        if (step.done === true || step.value.at(-1)?.type === 'finish') release();
        return step;
      } catch (error) {
        release();
        throw error;
      }
    },
    async return(): Promise<Step> {
      release();
      await source?.return?.();
      return { done: true, value: undefined };
    },
  };
}
