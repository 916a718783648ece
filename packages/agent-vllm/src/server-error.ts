import {
  AgentError,
  type ContextOverflow,
  type ErrorContext,
  type ErrorHint,
  faultOfBody,
  type HeaderReader,
  httpError,
  masked,
  modelContextOverflow,
  modelRequestInvalid,
  modelResponseInvalid,
  modelStreamTruncated,
  modelUnreachable,
  parseJson,
} from '@hexagent/agent-core/adapter';
import type { WireResponse } from './transport.ts';

/** As much of an error body as is read. */
const LONGEST = 64 * 1024;

/** What vLLM says when it was started without something, or asked for too much. */
export const VLLM_HINTS: readonly ErrorHint[] = [
  {
    words: /tool choice requires --enable-auto-tool-choice|requires? --tool-call-parser/i,
    mend: 'Start vLLM with --enable-auto-tool-choice and --tool-call-parser for your model.',
  },
  {
    words: /cannot be greater than max_model_len/i,
    mend: 'Ask for fewer output tokens (sampling.maxTokens).',
  },
  {
    words: /does not support (tools|function calling)/i,
    mend: 'Choose a model that calls tools, or define the agent without them.',
  },
];

const NOT_FOUND_PATH =
  'Check the address: baseUrl ends in "/v1" on most servers (http://127.0.0.1:8000/v1).';
const NOT_COUNTED =
  'This server counts no tokens: name its kind, such as vllm({ profile: "openai-compatible" }).';
const NOT_FOUND_MODEL = 'Name a model that the server lists at /models, or leave `model` out.';

/** The error of a response that is not a success; reads its body. */
export async function responseError(
  response: WireResponse,
  context: ErrorContext,
): Promise<AgentError> {
  let body = '';
  for (let text = await response.read(); text !== undefined; text = await response.read()) {
    body += text;
    if (body.length > LONGEST) break;
  }
  response.close(undefined);
  const { status, headers } = response;
  const asked = withRequestId(context, headers);
  body = unlisted(body);
  const overflow = status === 400 ? googleOverflow(body, asked) : undefined;
  if (overflow !== undefined) return overflow;
  if (status !== 404) return httpError({ status, headers, body }, asked);
  const hints = [{ words: /(?:)/, mend: notFoundMend(body, context) }];
  return httpError({ status, headers, body }, { ...asked, hints });
}

/** The context of an answer, which names the request as the logs of the server, or of OpenRouter, know it. */
export function withRequestId(context: ErrorContext, headers: HeaderReader): ErrorContext {
  const id = headers.get('x-request-id') ?? headers.get('x-generation-id');
  return id ? { ...context, at: `${context.at} (request ${id.slice(0, 200)})` } : context;
}

/** Google puts an error into a list of one. */
function unlisted(body: string): string {
  const value = /^\s*\[/.test(body) ? parseJson(body) : undefined;
  const first = Array.isArray(value) ? value[0] : undefined;
  return first === undefined ? body : JSON.stringify(first);
}

const GOOGLE_OVERFLOW =
  /input token count \(?(\d+)\)? exceeds the maximum number of tokens allowed \(?(\d+)/i;

/** Words of Gemini and Vertex that the common ones do not cover. */
function googleOverflow(body: string, { at, secrets }: ErrorContext): AgentError | undefined {
  const { message } = faultOfBody(body);
  const said = GOOGLE_OVERFLOW.exec(message);
  if (said === null) return undefined;
  const cause: ContextOverflow = {
    kind: 'context-overflow',
    window: Number(said[2]),
    inputTokens: Number(said[1]),
    isExact: true,
  };
  return modelContextOverflow({ at, reason: `HTTP 400, ${masked(message, secrets)}`, cause });
}

function notFoundMend(body: string, { at }: ErrorContext): string {
  if (/model/i.test(body) && !/<html/i.test(body)) return NOT_FOUND_MODEL;
  return /\/(tokenize|apply-template)$/.test(at) ? NOT_COUNTED : NOT_FOUND_PATH;
}

/** The error of a success that is a page or a text: the address is that of something else. */
export function notAModelServer(type: string, context: ErrorContext): AgentError {
  return modelResponseInvalid({
    at: context.at,
    reason: `it answered with ${JSON.stringify(type)} instead of an event stream or JSON`,
    mend: NOT_FOUND_PATH,
  });
}

/** The error of a success whose body is packed, which was not asked for. */
export function packedAnswer(encoding: string, context: ErrorContext): AgentError {
  return modelResponseInvalid({
    at: context.at,
    reason: `it answered with content-encoding ${JSON.stringify(encoding)}, which was not asked for`,
    mend: 'Switch compression off at the server or the proxy before it, or give a `fetch`, which unpacks.',
  });
}

/** The error of a connection that broke after the answer had begun. */
export function brokenAnswer(error: unknown, { at, secrets }: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const { code, text } = wordsOf(error);
  const words = masked(code === undefined ? text : `${code}, ${text}`, secrets);
  return modelStreamTruncated({ at, reason: `the connection broke before the end: ${words}` });
}

/** Codes of the platform after which the same request cannot work. */
const HOPELESS =
  /^(ENOTFOUND|ERR_INVALID_URL|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO)/;

/** The error of a connection that could not be made or broke. An `AgentError` is left as it is. */
export function connectionError(error: unknown, context: ErrorContext): AgentError {
  if (AgentError.is(error)) return error;
  const { at, secrets } = context;
  const { code, text } = wordsOf(error);
  const reason = masked(code === undefined ? text : `${code}, ${text}`, secrets);
  if (code !== undefined && HOPELESS.test(code)) {
    return modelUnreachable({
      at,
      reason,
      mend: `Correct the ${code === 'EPROTO' ? 'protocol (http: or https:)' : 'host, port or certificate'} of baseUrl; another try will not help.`,
      retryable: false,
    });
  }
  if (isBadHeader(code, text)) return modelRequestInvalid({ at, reason });
  return modelUnreachable({
    at,
    reason,
    mend: `Start the model server, or correct baseUrl; check with: curl ${at.replace(/\/chat\/completions$/, '/models')}`,
  });
}

/** A header that cannot be sent, in the words of `node:http`, of `fetch`, and of the strings that both take. */
function isBadHeader(code: string | undefined, text: string): boolean {
  return code === undefined
    ? /invalid header|ByteString/i.test(text)
    : /^ERR_(INVALID_CHAR|HTTP_INVALID_HEADER_VALUE)$/.test(code);
}

/** Node hides the reason of a failed fetch, and of a host with two addresses, one level down. */
function wordsOf(error: unknown): { readonly code: string | undefined; readonly text: string } {
  if (!(error instanceof Error)) return { code: undefined, text: String(error) };
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (inner instanceof Error && (code === undefined || error.message === '')) {
    const { code: innerCode, text } = wordsOf(inner);
    return { code: innerCode ?? code, text: text || error.message };
  }
  return { code, text: error.message.trim() };
}
