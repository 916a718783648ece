import { linked, modelTimeout } from '@hexagent/agent-core/adapter';
import type { Alarm } from './alarm.ts';

/** One call under a limit: pass `signal` on, and say when the call has ended. */
export type Limited = { readonly signal: AbortSignal; end(): void };

/** Puts the limit of a whole call, its retries and pauses included, over the caller's signal. */
export type TotalLimit = (signal: AbortSignal) => Limited;

/** Rejects, through the signal, with `MODEL_TIMEOUT` that is not tried again: there is no time left for it. */
export function totalLimit(options: {
  readonly totalMs: number;
  readonly alarm: Alarm;
  /** The address, for the error. */
  readonly at: string;
}): TotalLimit {
  const { totalMs, alarm, at } = options;
  if (totalMs === Number.POSITIVE_INFINITY) return (signal) => ({ signal, end: () => undefined });
  return (signal) => {
    const link = linked(signal);
    const cancel = alarm(totalMs, () => {
      const reason = `no complete answer within ${totalMs} ms`;
      const mend = 'Check the load of the model server, or raise timeouts.totalMs.';
      link.abort(modelTimeout({ at, reason, mend, retryable: false }));
    });
    return {
      signal: link.signal,
      end() {
        cancel();
        link.release();
      },
    };
  };
}
