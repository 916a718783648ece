import type { Watch } from './deadlines.ts';
import type { Transport, WireResponse } from './transport.ts';

/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;

/** The transport over a `fetch`: the caller's own, or another runtime's. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return {
    async send({ url, method, headers, body }, watch) {
      // How far a fetch is cannot be seen: its connecting counts as waiting for the first byte.
      watch.onConnect();
      const controller = new AbortController();
      // A fetch that does not look at its signal is left behind.
      const stopped = new Promise<never>((_, reject) => {
        watch.listen((reason) => {
          reject(reason);
          controller.abort(reason);
        });
      });
      const { signal } = controller;
      // A redirect is the caller's to hear of: to follow it would hand the prompt, and headers with keys, to another host.
      const redirect = 'manual' as const;
      const init = { method, headers, signal, redirect, ...(body === undefined ? {} : { body }) };
      const response = await Promise.race([fetch(url, init), stopped]);
      return responseOf(response, watch, controller);
    },
    close() {},
  };
}

function responseOf(response: Response, watch: Watch, controller: AbortController): WireResponse {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let isEnded = reader === undefined;
  let given: { readonly reason: unknown } | undefined;

  // A pending read ends at once with it, whatever the platform makes of the signal.
  const close = (reason: unknown): void => {
    given ??= { reason };
    if (isEnded) return;
    isEnded = true;
    reader?.cancel().catch(() => undefined);
    controller.abort(reason);
  };
  watch.listen(close);

  return {
    status: response.status,
    headers: response.headers,
    async read() {
      for (;;) {
        if (reader === undefined || isEnded) {
          if (watch.stopped !== undefined) throw watch.stopped.reason;
          return undefined;
        }
        watch.onRead();
        const { done, value } = await reader.read();
        if (given !== undefined) throw given.reason;
        isEnded = done;
        if (!done) watch.onBytes();
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== '') return text;
      }
    },
    release() {
      watch.listen(undefined);
      if (isEnded || reader === undefined) return;
      // Most servers end right after the last event: reading to the end keeps the connection.
      const timer = setTimeout(() => close(undefined), REST_MS);
      const finish = ({ done }: { readonly done: boolean }): void => {
        clearTimeout(timer);
        if (done) isEnded = true;
        else close(undefined);
      };
      reader.read().then(finish, () => finish({ done: false }));
    },
    close,
  };
}
