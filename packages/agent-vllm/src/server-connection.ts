import { type ErrorContext, retrying } from '@hexagent/agent-core/adapter';
import { alarmOf } from './alarm.ts';
import { deadlines, type Watch } from './deadlines.ts';
import type { Exit } from './exit.ts';
import { fetchTransport } from './fetch-transport.ts';
import { nodeTransport } from './node-transport.ts';
import { brokenAnswer, connectionError, responseError, VLLM_HINTS } from './server-error.ts';
import type { WireRequest, WireResponse } from './transport.ts';
import type { Settings } from './vllm-options.ts';

export type Call = {
  readonly method: WireRequest['method'];
  readonly url: string;
  readonly accept: string;
  readonly body?: string;
  /** For the server's logs. */
  readonly requestId?: string;
};

/** The connection to one server: sends, classifies what fails, keeps to the limits, tries again. */
export interface ServerConnection {
  /**
   * Sends, and reads with `read` as far as it wants, in one try; tries again while nothing was read
   * and the error is retryable. The deadlines go on until they are released.
   */
  open<T>(call: Call, options: OpenOptions<T>): Promise<T>;
  /** The whole body of a small answer. */
  text(call: Call, signal: AbortSignal): Promise<string>;
  errorContext(at: string): ErrorContext;
  close(): void;
}

export type OpenOptions<T> = {
  readonly signal: AbortSignal;
  readonly exit?: Exit;
  readonly read: (response: WireResponse, watch: Watch) => Promise<T>;
};

export function serverConnection(settings: Settings): ServerConnection {
  const { clock, random, retries, secrets, timeouts } = settings;
  const alarm = alarmOf(clock);
  const transport = settings.fetch ? fetchTransport(settings.fetch) : nodeTransport();

  const errorContext = (at: string): ErrorContext => ({
    at,
    secrets,
    hints: VLLM_HINTS,
    now: clock.now(),
  });

  const send = async (call: Call, watch: Watch): Promise<WireResponse> => {
    const context = errorContext(call.url);
    let response: WireResponse;
    try {
      response = await transport.send(wireRequest(call, settings.headers), watch);
    } catch (error) {
      if (watch.stopped !== undefined) throw watch.stopped.reason;
      throw connectionError(error, context);
    }
    if (response.status >= 200 && response.status < 300) return response;
    throw await responseError(response, context);
  };

  const connection: ServerConnection = {
    open: (call, { signal, exit, read }) => {
      const began = clock.monotonic();
      const attempt = async () => {
        const watch = deadlines({
          timeouts,
          clock,
          alarm,
          signal,
          at: call.url,
          began,
          ...(exit === undefined ? {} : { exit }),
        });
        let response: WireResponse | undefined;
        try {
          response = await send(call, watch);
          return await read(response, watch);
        } catch (error) {
          response?.close(error);
          watch.release();
          throw error;
        }
      };
      return retrying(attempt, { retries, clock, random, signal });
    },
    text: (call, signal) =>
      connection.open(call, {
        signal,
        read: async (response, watch) => {
          const body = await wholeBody(response, errorContext(call.url));
          response.release();
          watch.release();
          return body;
        },
      }),
    errorContext,
    close: () => transport.close(),
  };
  return connection;
}

function wireRequest(call: Call, headers: Readonly<Record<string, string>>): WireRequest {
  const { method, url, accept, body, requestId } = call;
  return {
    method,
    url,
    headers: {
      accept,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  };
}

/** Reads a body to its end; a break on the way is a truncated answer. */
export async function wholeBody(response: WireResponse, context: ErrorContext): Promise<string> {
  try {
    let body = '';
    for (let text = await response.read(); text !== undefined; text = await response.read()) {
      body += text;
    }
    return body;
  } catch (error) {
    throw brokenAnswer(error, context);
  }
}
