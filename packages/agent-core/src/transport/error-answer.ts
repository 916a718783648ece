import { AgentError, type ErrorRecord } from '../base/error.ts';
import { internalError } from '../base/error-catalog.ts';
import type { Problem } from '../base/errors/problem.ts';
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

/** The media type of a `ProblemBody`. Source: RFC 9457, section 3. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** An error as HTTP answers it, whichever host or mount it is. Source: RFC 9457, section 3.1; `code`, `mend` and `problems` are extensions. */
export type ProblemBody = {
  /** `urn:hexagent:error:<code>`. */
  readonly type: string;
  /** The same words for every error of a code: `RUN_NOT_FOUND` is "Run not found". */
  readonly title: string;
  readonly status: number;
  /** What was seen. */
  readonly detail: string;
  /** `urn:hexagent:request:<id>`; absent where nobody has given the request an id. */
  readonly instance?: string;
  readonly code: string;
  readonly mend: string;
  readonly problems?: readonly Problem[];
};

/**
 * The one form of an error over HTTP.
 *
 * @param told what a caller may know: the record of an `AgentError`, or a code and words of your own
 * @param requestId as the `x-request-id` of the answer and the log have it
 */
export function problemBodyOf(
  { code, message, mend, problems = [] }: ErrorRecord & { readonly problems?: readonly Problem[] },
  { status, requestId }: { readonly status: number; readonly requestId?: string | undefined },
): ProblemBody {
  return {
    type: `urn:hexagent:error:${code}`,
    title: titleOf(code),
    status,
    detail: message,
    ...(requestId === undefined
      ? {}
      : { instance: `urn:hexagent:request:${encodeURIComponent(requestId)}` }),
    code,
    mend,
    ...(problems.length > 0 ? { problems } : {}),
  };
}

function titleOf(code: string): string {
  const words = code
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/^http /, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
