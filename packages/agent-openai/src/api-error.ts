import {
  AgentError,
  type ErrorContext,
  type ErrorHint,
  faultError,
  httpError,
  masked,
  modelAuthentication,
  modelContextOverflow,
  modelRequestInvalid,
  modelStreamTruncated,
  modelTimeout,
  modelUnreachable,
  overflowOf,
  type ProviderFault,
} from '@hexagent/agent-core/adapter';
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from 'openai';

/** Where an error came from, and what is known about the model that it is about. */
export type ApiContext = ErrorContext & { readonly contextWindow?: number };

export const OPENAI_HINTS: readonly ErrorHint[] = [
  {
    words: /encrypted content (is not supported|could not be)/i,
    mend: 'Leave `reasoning` out for a model that does not reason; begin a new conversation after a change of organisation.',
  },
  {
    words: /organization must be verified/i,
    mend: 'Verify the organisation, or leave `reasoning.summary` out.',
  },
];

/** The error of a request that the client gave up on: a status, a connection, or a key that could not be made. */
export function requestError(
  error: unknown,
  context: ApiContext,
  body: string | undefined,
): AgentError {
  if (AgentError.is(error)) return error;
  if (error instanceof APIConnectionTimeoutError) {
    return modelTimeout({ at: context.at, reason: 'the connection did not stand in time' });
  }
  if (error instanceof APIConnectionError) return connectionError(error.cause ?? error, context);
  if (error instanceof APIError && error.status !== undefined) {
    const { status, headers } = error;
    const asked = withRequestId(context, headers);
    const answer = { status, headers: headers ?? new Headers(), body: body ?? error.message };
    return withWindow(httpError(answer, asked), context);
  }
  const reason = masked(wordsOf(error).text, context.secrets);
  return error instanceof OpenAIError
    ? modelAuthentication({ at: context.at, reason })
    : modelRequestInvalid({ at: context.at, reason });
}

/** The context of an answer, which names the request as the provider's support knows it. */
export function withRequestId<C extends ApiContext>(
  context: C,
  headers: { get(name: string): string | null | undefined } | undefined,
): C {
  const id = headers?.get('x-request-id');
  return id ? { ...context, at: `${context.at} (request ${id})` } : context;
}

/** Codes with which a response fails because of what it was asked. */
const INVALID = /^(invalid_|unsupported_|image_|empty_image|failed_to_download|data_residency)/;
const REFUSED = /(content_policy|_policy|content_filter)/;

/** The error that a stream carried, which has no status: its code says what it is. */
export function streamError(fault: ProviderFault, context: ApiContext): AgentError {
  const { code = '', status, type } = fault;
  const isInvalid =
    status === undefined && (INVALID.test(code) || type === 'invalid_request_error');
  const known = REFUSED.test(code)
    ? { ...fault, code: 'content_policy_violation' }
    : { ...fault, ...(isInvalid ? { status: 400 } : {}) };
  return withWindow(faultError(known, context), context);
}

/** The error of a connection that broke after the answer had begun. */
export function brokenAnswer(error: unknown, { at, secrets }: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const words = masked(wordsOf(error).text, secrets);
  return modelStreamTruncated({ at, reason: `the connection broke before the end: ${words}` });
}

/** The provider names no numbers where a prompt is too long: the window that the options know is one. */
function withWindow(error: AgentError, { contextWindow }: ApiContext): AgentError {
  const overflow = overflowOf(error);
  if (overflow === undefined || overflow.window !== undefined || contextWindow === undefined) {
    return error;
  }
  const { message: reason, mend } = error;
  return modelContextOverflow({ reason, mend, cause: { ...overflow, window: contextWindow } });
}

/** Codes of the platform after which the same request cannot work. */
const HOPELESS =
  /^(ENOTFOUND|ERR_INVALID_URL|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO)/;

function connectionError(error: unknown, { at, secrets }: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const { code, text } = wordsOf(error);
  const reason = masked(text, secrets);
  if (code === undefined || !HOPELESS.test(code)) return modelUnreachable({ at, reason });
  return modelUnreachable({
    at,
    reason,
    mend: 'Correct the host, port or certificate of baseUrl; another try will not help.',
    retryable: false,
  });
}

/** Node hides the reason of a failed fetch, and of a host with two addresses, one level down. */
function wordsOf(error: unknown): { readonly code: string | undefined; readonly text: string } {
  if (!(error instanceof Error)) return { code: undefined, text: String(error) };
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined && inner instanceof Error) return wordsOf(inner);
  const text = error.message.trim();
  return { code, text: code === undefined || text.includes(code) ? text : `${code}, ${text}` };
}
