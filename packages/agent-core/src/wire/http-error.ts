import type { AgentError } from '../base/error.ts';
import {
  type ModelFailure,
  modelAuthentication,
  modelContextOverflow,
  modelFailed,
  modelNotFound,
  modelOverloaded,
  modelRateLimited,
  modelRefused,
  modelRequestInvalid,
  modelTimeout,
} from '../base/error-catalog.ts';
import { contextOverflow } from './context-overflow.ts';
import { masked } from './masked.ts';
import { faultOfBody, type ProviderFault } from './provider-fault.ts';
import { type HeaderReader, retryAfterOf, shouldRetry } from './retry-after.ts';

/** A better mend for words that one server is known to say. */
export type ErrorHint = { readonly words: RegExp; readonly mend: string };

export type ErrorContext = {
  /** The address that was asked. */
  readonly at: string;
  /** Values that must not appear in an error text. */
  readonly secrets: readonly string[];
  readonly hints?: readonly ErrorHint[];
  /** Epoch milliseconds: what a date in `retry-after` is counted from. */
  readonly now: number;
};

/** The error of a response whose status is not a success. */
export function httpError(
  response: { readonly status: number; readonly headers: HeaderReader; readonly body: string },
  context: ErrorContext,
): AgentError {
  const { status, headers, body } = response;
  const location = headers.get('location');
  const fault =
    status >= 300 && status < 400 && location
      ? { message: `it redirects to ${location}` }
      : faultOfBody(body);
  const retryAfterMs = retryAfterOf(headers, context.now);
  const retryable = shouldRetry(headers);
  return classified(fault, status, {
    ...context,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(retryable === undefined ? {} : { retryable }),
  });
}

/** The error of a fault inside a stream that began with status 200. */
export function faultError(fault: ProviderFault, context: ErrorContext): AgentError {
  return classified(fault, fault.status ?? statusOf(fault) ?? 200, context);
}

type Known = ErrorContext & { readonly retryAfterMs?: number; readonly retryable?: boolean };

function classified(fault: ProviderFault, status: number, known: Known): AgentError {
  const failure = failureOf(fault, status, known);
  const overflow = contextOverflow(fault, status);
  if (overflow !== undefined) {
    return modelContextOverflow({ ...failure, retryable: false, cause: overflow });
  }
  if (isRefusal(fault)) return modelRefused(failure);
  if (status === 401 || status === 403) return modelAuthentication(failure);
  if (status === 402 || fault.code === 'insufficient_quota') {
    return modelRateLimited({ mend: 'Add credit to the account.', retryable: false, ...failure });
  }
  if (status === 404) return modelNotFound(failure);
  if (status === 408 || status === 504) return modelTimeout(failure);
  if (status === 429) return modelRateLimited(failure);
  if (status === 409 || status === 425 || status === 503 || status === 529) {
    return modelOverloaded(failure);
  }
  if (status === 501) return modelRequestInvalid(failure);
  if (status >= 500 || status === 200) return modelFailed(failure);
  return modelRequestInvalid(failure);
}

function failureOf(fault: ProviderFault, status: number, known: Known): ModelFailure {
  const { at, secrets, hints = [], retryAfterMs, retryable } = known;
  const hint = hints.find(({ words }) => words.test(fault.message));
  const reason =
    status === 200
      ? `the stream carried an error: ${fault.message}`
      : `HTTP ${status}, ${fault.message}`;
  return {
    at: masked(at, secrets),
    reason: masked(reason, secrets),
    ...(hint === undefined ? {} : { mend: hint.mend }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(retryable === undefined ? {} : { retryable }),
  };
}

function isRefusal({ code, type }: ProviderFault): boolean {
  return [code, type].some(
    (word) => word === 'content_filter' || word === 'content_policy_violation',
  );
}

/** The status that the word of an error stands for, where no number came with it. */
function statusOf({ code = '', type = '' }: ProviderFault): number | undefined {
  const word = `${code} ${type}`.toLowerCase();
  const rule = STATUS_WORDS.find(([words]) => words.test(word));
  return rule?.[1];
}

const STATUS_WORDS: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|quota/, 429],
  [/overloaded|unavailable/, 503],
  [/authentication|api_key|unauthorized/, 401],
  [/permission|forbidden/, 403],
  [/not_?found/, 404],
  [/timeout/, 408],
  [/invalid_request|bad_?request|unprocessable/, 400],
];
