import type { ErrorContext } from '@hexagent/agent-core/adapter';
import { deadlines, type Watch } from './deadlines.ts';
import { fetchTransport } from './fetch-transport.ts';
import { nodeTransport } from './node-transport.ts';
import {
  brokenAnswer,
  connectionError,
  packedAnswer,
  responseError,
  VLLM_HINTS,
} from './server-error.ts';
import type { Settings } from './settings.ts';
import { tokenError, tokenSource } from './token-source.ts';
import type { WireRequest, WireResponse } from './transport.ts';
import type { Timeouts } from './vllm-options.ts';

export type Call = {
  readonly method: WireRequest['method'];
  readonly url: string;
  readonly accept: string;
  readonly body?: string;
  /** For the server's logs. */
  readonly requestId?: string;
};

/** The connection to one server: sends once, with the key, classifies what fails, keeps to the limits. */
export interface ServerConnection {
  /** Sends, and reads with `read` as far as it wants. The deadlines go on until they are released. */
  open<T>(call: Call, options: OpenOptions<T>): Promise<T>;
  /** The whole body of a small answer. */
  text(call: Call, signal: AbortSignal, limits?: Partial<Timeouts>): Promise<string>;
  errorContext(at: string): ErrorContext;
  close(): void;
}

export type OpenOptions<T> = {
  readonly signal: AbortSignal;
  /** Instead of those of the settings. */
  readonly limits?: Partial<Timeouts>;
  readonly read: (response: WireResponse, watch: Watch) => Promise<T>;
};

export function serverConnection(settings: Settings): ServerConnection {
  const { clock, timeouts } = settings;
  const transport = settings.fetch ? fetchTransport(settings.fetch) : nodeTransport();
  const tokens = settings.token === undefined ? undefined : tokenSource(settings.token);

  const errorContext = (at: string): ErrorContext => ({
    at,
    secrets: tokens === undefined ? settings.secrets : [...settings.secrets, ...tokens.secrets],
    hints: VLLM_HINTS,
    now: clock.now(),
  });

  const transmit = async (
    call: Call,
    watch: Watch,
    token: string | undefined,
  ): Promise<WireResponse> => {
    // A second request, with a new token, is waited for like the first.
    watch.onRead();
    const key = token === undefined ? {} : { authorization: `Bearer ${token}` };
    try {
      return await transport.send(wireRequest(call, { ...key, ...settings.headers }), watch);
    } catch (error) {
      if (watch.stopped !== undefined) throw watch.stopped.reason;
      throw connectionError(error, errorContext(call.url));
    }
  };

  const respond = async (call: Call, watch: Watch): Promise<WireResponse> => {
    if (tokens === undefined) return transmit(call, watch, undefined);
    const token = await fetched(tokens.token(), watch);
    const response = await transmit(call, watch, token);
    if (response.status !== 401) return response;
    response.close(undefined);
    return transmit(call, watch, await fetched(tokens.renewed(token), watch));
  };

  const send = async (call: Call, watch: Watch): Promise<WireResponse> => {
    const response = await respond(call, watch);
    if (response.status >= 200 && response.status < 300) {
      const encoding = response.headers.get('content-encoding') ?? 'identity';
      // A fetch has unpacked it by now.
      if (settings.fetch !== undefined || /^identity$/i.test(encoding)) return response;
      const error = packedAnswer(encoding, errorContext(call.url));
      response.close(error);
      throw error;
    }
    throw await responseError(response, errorContext(call.url));
  };

  const connection: ServerConnection = {
    open: async (call, { signal, limits, read }) => {
      const watch = deadlines({
        timeouts: limits === undefined ? timeouts : { ...timeouts, ...limits },
        clock,
        signal,
        at: call.url,
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
    },
    text: (call, signal, limits) =>
      connection.open(call, {
        signal,
        ...(limits === undefined ? {} : { limits }),
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

/** A token, unless the try is stopped before it is there. */
function fetched(token: Promise<string>, watch: Watch): Promise<string> {
  return new Promise((resolve, reject) => {
    watch.listen(reject);
    token.then(
      (value) => {
        watch.listen(undefined);
        if (watch.stopped === undefined) resolve(value);
      },
      (error: unknown) => {
        watch.listen(undefined);
        reject(tokenError(error));
      },
    );
  });
}

function wireRequest(call: Call, headers: Readonly<Record<string, string>>): WireRequest {
  const { method, url, accept, body, requestId } = call;
  return {
    method,
    url,
    headers: {
      accept,
      // Whoever packs a stream holds its events back.
      'accept-encoding': 'identity',
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
