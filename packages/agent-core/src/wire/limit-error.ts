import type { AgentError } from '../base/error.ts';
import { modelTimeout } from '../base/error-catalog.ts';

/** The limits over a model call, as `timeouts` names them. */
export type LimitName = 'connectMs' | 'firstByteMs' | 'idleMs' | 'totalMs';

const WORDS: Readonly<Record<LimitName, string>> = {
  connectMs: 'no connection',
  firstByteMs: 'no byte of an answer',
  idleMs: 'no further byte',
  totalMs: 'no complete answer',
};

/** The `MODEL_TIMEOUT` of a limit that has passed, at an address. */
export function limitError(at: string, limit: LimitName, ms: number): AgentError {
  return modelTimeout({
    at,
    reason: `${WORDS[limit]} within ${ms} ms`,
    mend: `Check the load of the model server, or raise timeouts.${limit}.`,
    // The time for the whole call is over: another try has none.
    ...(limit === 'totalMs' ? { retryable: false } : {}),
  });
}
