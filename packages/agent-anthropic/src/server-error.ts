import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import {
  AgentError,
  type ErrorContext,
  type ErrorHint,
  httpError,
  isJsonObject,
  type JsonValue,
  masked,
  modelRequestInvalid,
  modelResponseInvalid,
  modelStreamTruncated,
  modelTimeout,
  modelUnreachable,
} from '@hexagent/agent-core/adapter';

/** What the provider is known to say, and what helps. */
export const HINTS: readonly ErrorHint[] = [
  { words: /credit balance/i, mend: 'Add credit to the account.' },
  {
    words: /maximum allowed number of output tokens/i,
    mend: 'Ask for fewer output tokens (sampling.maxTokens, or the option maxTokens).',
  },
  {
    words: /\b(temperature|top_p)\b/,
    mend: 'Leave sampling.temperature and sampling.topP out, or name an older apiVersion that takes them.',
  },
];

const NOT_FOUND_PATH =
  'Check the address: baseUrl is the part before "/v1/messages" (http://127.0.0.1:8000).';
const NOT_FOUND_MODEL = 'Correct the name of the model, or check that the key may use it.';

/** The error of a request that came to no answer. An `AgentError` is left as it is. */
export function requestError(error: unknown, context: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const { at } = context;
  if (error instanceof APIConnectionTimeoutError) {
    return modelTimeout({ at, reason: 'the platform gave the connection up, which took too long' });
  }
  if (error instanceof APIConnectionError) return connectionError(error.cause ?? error, context);
  if (error instanceof APIError && error.status !== undefined) return statusError(error, context);
  return modelRequestInvalid({ at, reason: wordsOf(error, context.secrets).words });
}

/** The error of a connection that broke after the answer had begun. */
export function brokenAnswer(error: unknown, { at, secrets }: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const { words } = wordsOf(error, secrets);
  return modelStreamTruncated({ at, reason: `the connection broke before the end: ${words}` });
}

/** Throws at a success that is no event stream: the address is that of something else. */
export function notAStream(type: string, { at }: ErrorContext): AgentError {
  return modelResponseInvalid({
    at,
    reason: `it answered with ${JSON.stringify(type)} instead of an event stream`,
    mend: NOT_FOUND_PATH,
  });
}

/** The context of an answer, which names the request as the provider's support knows it. */
export function withRequestId(
  context: ErrorContext,
  headers: { get(name: string): string | null },
): ErrorContext {
  const id = headers.get('request-id') ?? headers.get('x-request-id');
  return id === null ? context : { ...context, at: `${context.at} (request ${id.slice(0, 200)})` };
}

function statusError(error: APIError, context: ErrorContext): AgentError {
  const { status, headers, requestID } = error;
  const body = bodyOf(error);
  const response = {
    status: Number(status),
    headers: { get: (name: string) => headers?.get(name) },
    body: typeof body === 'string' ? body : JSON.stringify(named(body, requestID)),
  };
  if (status !== 404) return httpError(response, context);
  const mend = /model/i.test(response.body) && !/<html/i.test(response.body);
  const hint = { words: /(?:)/, mend: mend ? NOT_FOUND_MODEL : NOT_FOUND_PATH };
  return httpError(response, { ...context, hints: [hint] });
}

/** The SDK parses JSON bodies; of others it keeps the text, with the status before it. */
function bodyOf(error: APIError): JsonValue {
  if (error.error === undefined) return error.message.replace(/^\d{3} /, '');
  // The cast: it was parsed from JSON.
  return error.error as JsonValue;
}

/** The provider's support asks for the id of the request. */
function named(body: JsonValue, requestId: string | null | undefined): JsonValue {
  if (typeof requestId !== 'string' || !isJsonObject(body)) return body;
  const { error } = body;
  if (!isJsonObject(error) || typeof error['message'] !== 'string') return body;
  return { ...body, error: { ...error, message: `${error['message']} (request ${requestId})` } };
}

/** Codes of the platform after which the same request cannot work. */
const HOPELESS =
  /^(ENOTFOUND|ERR_INVALID_URL|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO)/;

function connectionError(error: unknown, { at, secrets }: ErrorContext): AgentError {
  const { code, words } = wordsOf(error, secrets);
  if (code !== undefined && HOPELESS.test(code)) {
    return modelUnreachable({
      at,
      reason: words,
      mend: `Correct the ${code === 'EPROTO' ? 'protocol (http: or https:)' : 'host, port or certificate'} of baseUrl; another try will not help.`,
      retryable: false,
    });
  }
  return modelUnreachable({
    at,
    reason: words,
    mend: 'Check the network and the address (baseUrl), or start the server there.',
  });
}

/** The platform hides the reason of a failed fetch, and of a host with two addresses, one level down. */
function wordsOf(
  error: unknown,
  secrets: readonly string[],
): { readonly code: string | undefined; readonly words: string } {
  const { code, text } = deepest(error);
  return { code, words: masked(code === undefined ? text : `${code}, ${text}`, secrets) };
}

function deepest(error: unknown): { readonly code: string | undefined; readonly text: string } {
  if (!(error instanceof Error)) return { code: undefined, text: String(error) };
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (inner instanceof Error && (code === undefined || error.message === '')) {
    const below = deepest(inner);
    return { code: below.code ?? code, text: below.text || error.message };
  }
  return { code, text: error.message.trim() };
}
