import {
  type AnswerText,
  answerLimits,
  answerText,
  type Linked,
  onlyHeaders,
  parseJson,
} from '@hexagent/agent-core/adapter';
import { OpenAI } from 'openai';
import {
  type ApiContext,
  brokenAnswer,
  OPENAI_HINTS,
  requestError,
  withRequestId,
} from './api-error.ts';
import type { ApiSettings } from './api-options.ts';
import { keyOf, type SentHeaders, sentHeaders } from './sent-headers.ts';

/** Options of one request of the official client. */
export type RequestOptions = {
  readonly signal: AbortSignal;
  readonly headers: SentHeaders;
};

/** A response of the official client, unread. */
export type RawResponse = { asResponse(): Promise<Response> };

/** An answer whose headers are here. */
export type ApiAnswer = {
  readonly context: ApiContext;
  readonly contentType: string;
  readonly text: AnswerText;
};

/** The way to the provider through its official client: one try, with limits, its errors classified. */
export interface ApiConnection {
  contextOf(path: string): ApiContext;
  /**
   * Sends a request, and answers its response as soon as the headers are there. Aborting the link closes the
   * connection, also later, while the body is read.
   */
  open(call: ApiCall, link: Linked): Promise<ApiAnswer>;
  /** A whole JSON answer. */
  json(
    call: ApiCall,
    link: Linked,
  ): Promise<{ readonly value: unknown; readonly context: ApiContext }>;
}

export type ApiCall = {
  /** Below the base address, for errors: `/responses`. */
  readonly path: string;
  readonly requestId?: string;
  readonly send: (client: OpenAI, options: RequestOptions) => RawResponse;
};

/** The client's own limit, which covers the headers only, is out of the way. */
const NEVER_MS = 2 ** 31 - 1;

export function apiConnection(settings: ApiSettings): ApiConnection {
  const { clock, timeouts, contextWindow } = settings;
  const names = Object.keys(sentHeaders(settings, { key: '', requestId: undefined }));
  const secrets = [...settings.secrets];
  const bodies = new WeakMap<Headers, string>();
  const client = new OpenAI({
    // Everything that the client would else look for in the environment.
    apiKey: 'none',
    adminAPIKey: null,
    webhookSecret: null,
    organization: null,
    project: null,
    baseURL: settings.baseUrl,
    fetch: keepingBodies((url, init) => {
      const headers = onlyHeaders(new Headers(init?.headers), names);
      return (settings.fetch ?? globalThis.fetch)(url, { ...init, headers });
    }, bodies),
    // Retries are core's, and what is sent is nobody's to log.
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    // A redirect is the caller's to hear of: to follow it would hand the prompt, and headers with keys, to another host.
    fetchOptions: { redirect: 'manual' },
  });
  const contextOf = (path: string): ApiContext => ({
    at: `${settings.baseUrl}${path}`,
    secrets,
    hints: OPENAI_HINTS,
    now: clock.now(),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  });

  const open = async ({ path, requestId, send }: ApiCall, link: Linked): Promise<ApiAnswer> => {
    const context = contextOf(path);
    link.throwIfAborted();
    const limits = answerLimits({
      timeouts,
      clock,
      at: context.at,
      ring: (error) => link.abort(error),
    });
    try {
      const key = await link.until(keyOf(settings, { at: context.at, secrets }));
      const options = {
        signal: link.signal,
        headers: sentHeaders(settings, { key, requestId }),
      };
      const response = await link.until(send(client, options).asResponse());
      const asked = withRequestId(context, response.headers);
      return {
        context: asked,
        contentType: response.headers.get('content-type') ?? '',
        text: answerText(response.body, {
          link,
          limits,
          broken: (error) => brokenAnswer(error, asked),
        }),
      };
    } catch (error) {
      limits.release();
      link.throwIfAborted();
      throw requestError(error, context, bodyOf(error, bodies));
    }
  };

  return {
    contextOf,
    open,
    async json(call, link) {
      const { text, context } = await open(call, link);
      return { value: parseJson(await wholeBody(text)), context };
    },
  };
}

/** Reads a body to its end; a break on the way is a truncated answer. */
export async function wholeBody(text: AnswerText): Promise<string> {
  let body = '';
  for (let piece = await text.read(); piece !== undefined; piece = await text.read()) body += piece;
  return body;
}

type Fetch = typeof globalThis.fetch;

/** The client keeps of an error body only its `error` member; gateways before the provider speak otherwise. */
function keepingBodies(send: Fetch, bodies: WeakMap<Headers, string>): Fetch {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    const body = await response.text();
    const kept = new Response(body === '' ? null : body, { status, statusText, headers });
    bodies.set(kept.headers, body);
    return kept;
  };
}

function bodyOf(error: unknown, bodies: WeakMap<Headers, string>): string | undefined {
  const headers =
    typeof error === 'object' && error !== null && 'headers' in error ? error.headers : undefined;
  return headers instanceof Headers ? bodies.get(headers) : undefined;
}
