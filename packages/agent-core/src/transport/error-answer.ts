import { AgentError, type ErrorRecord } from '../base/error.ts';
import { internalError } from '../base/error-catalog.ts';
import { httpStatusOf } from './http-status.ts';

/** An error as a host answers it. */
export type ErrorAnswer = {
  readonly status: number;
  /** Lower-case names: `retry-after`, `www-authenticate`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: ErrorRecord };
};

/**
 * The answer to a request that failed. An `AgentError` is told as it is, without its stack; of anything
 * else nothing is told (`INTERNAL_ERROR`): log the cause.
 */
export function errorAnswerOf(error: unknown): ErrorAnswer {
  const told = AgentError.is(error) ? error : internalError(error);
  const status = httpStatusOf(told.code);
  return {
    status,
    headers: {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(told.retryAfterMs === undefined
        ? {}
        : { 'retry-after': String(Math.ceil(told.retryAfterMs / 1_000)) }),
    },
    body: { error: told.toRecord() },
  };
}
