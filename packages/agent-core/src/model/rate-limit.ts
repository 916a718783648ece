import { type Clock, systemClock } from '../base/clock.ts';
import { inputInvalid } from '../base/error-catalog.ts';
import { totalTokens } from '../vocabulary/usage.ts';
import type { AgentModel, ModelRequest } from './agent-model.ts';
import { delegate } from './delegate.ts';
import { estimatedTokens } from './estimate.ts';
import { Gate, type GateLimits, type Pass } from './gate.ts';
import { wrappedStream } from './wrapped-stream.ts';

export type RateLimit = GateLimits & { readonly clock?: Clock };

/**
 * A model that is asked no faster than its limits allow; calls wait in the order in which they came. Tokens are counted
 * by an estimate first and by what the answer says afterwards. It counts calls, not the tries that the model makes by itself.
 *
 * @throws AgentError `INPUT_INVALID` for a limit that is no number above 0.
 */
export function withRateLimit(model: AgentModel, limits: RateLimit): AgentModel {
  const { clock = systemClock, ...rates } = limits;
  const problems = Object.entries(rates).flatMap(([at, value]) =>
    value === undefined ||
    (Number.isFinite(value) && value >= (at === 'concurrency' ? 1 : 0) && value > 0)
      ? []
      : [{ at, seen: `is ${String(value)}.`, mend: 'Give a number above 0, or leave it out.' }],
  );
  if (problems.length > 0) throw inputInvalid('withRateLimit', problems);
  return gated(model, new Gate(rates, clock));
}

/** A model whose calls pass a gate. */
export function gated(model: AgentModel, gate: Gate): AgentModel {
  return delegate(model, {
    stream: (request, stop) => {
      let pass: Pass | undefined;
      return wrappedStream(stop, {
        open: async ({ signal }) => {
          pass = await gate.enter(sizeOf(request), signal);
          return model.stream(request, stop)[Symbol.asyncIterator]();
        },
        ended: (end) => {
          const usage = end.kind === 'finished' ? end.finish?.usage : undefined;
          pass?.leave(usage === undefined ? undefined : totalTokens(usage));
        },
      });
    },
  });
}

function sizeOf(request: ModelRequest): number {
  return estimatedTokens(request) + (request.sampling?.maxTokens ?? 0);
}
