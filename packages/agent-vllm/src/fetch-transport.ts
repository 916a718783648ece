import { linked, untilAborted } from '@hexagent/agent-core/adapter';
import type { Transport, WireResponse } from './transport.ts';

/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;

/** The transport over a `fetch`: the caller's own, or another runtime's. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return {
    async send({ url, method, headers, body }, { signal, onConnect, onBytes }) {
      // How far a fetch is cannot be seen: its connecting counts as waiting for the first byte.
      onConnect();
      const link = linked(signal);
      try {
        const response = await untilAborted(
          fetch(url, {
            method,
            headers,
            signal: link.signal,
            ...(body === undefined ? {} : { body }),
          }),
          signal,
        );
        return responseOf(response, { signal, onBytes, link });
      } catch (error) {
        link.abort(error);
        link.release();
        throw error;
      }
    },
    close() {},
  };
}

function responseOf(
  response: Response,
  from: {
    readonly signal: AbortSignal;
    readonly onBytes: () => void;
    readonly link: ReturnType<typeof linked>;
  },
): WireResponse {
  const { signal, onBytes, link } = from;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let isEnded = reader === undefined;
  const leave = (): void => {
    if (!isEnded) {
      reader?.cancel().catch(() => undefined);
      link.abort(new Error('the response is not read any further'));
    }
    link.release();
  };
  return {
    status: response.status,
    headers: response.headers,
    async read() {
      for (;;) {
        if (reader === undefined || isEnded) return undefined;
        const { done, value } = await untilAborted(reader.read(), signal);
        isEnded = done;
        if (!done) onBytes();
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== '') return text;
      }
    },
    release() {
      if (isEnded || reader === undefined) return leave();
      // Most servers end right after the last event: reading to the end keeps the connection.
      const timer = setTimeout(leave, REST_MS);
      const finish = ({ done }: { readonly done: boolean }): void => {
        isEnded = done;
        clearTimeout(timer);
        leave();
      };
      reader.read().then(finish, () => finish({ done: false }));
    },
    close: leave,
  };
}
