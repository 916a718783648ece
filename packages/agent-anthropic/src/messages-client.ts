import Anthropic from '@anthropic-ai/sdk';
import type {
  MessageCountTokensParams,
  MessageCreateParamsStreaming,
} from '@anthropic-ai/sdk/resources/messages/messages';
import { type ErrorContext, type Linked, onlyHeaders } from '@hexagent/agent-core/adapter';
import { HINTS, requestError } from './server-error.ts';
import type { Settings } from './settings.ts';

/** The SDK's limit, which ends with the headers, is out of the way: our own limits go on to the last byte. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** One address of the API over the provider's SDK: it authenticates and sends, one try a call. */
export interface MessagesClient {
  /**
   * The raw response: the SDK's own iterator gives event by event, ends without a word on an abort, and swallows the `ping`s by
   * which a server that thinks shows that it lives. Rejects with an `AgentError`, or the reason of `call`.
   */
  open(body: MessageCreateParamsStreaming, options: CallOptions): Promise<Response>;
  count(body: MessageCountTokensParams, options: CallOptions): Promise<unknown>;
  errorContext(kind: 'messages' | 'count_tokens'): ErrorContext;
}

export type CallOptions = {
  readonly call: Linked;
  /** For the server's logs. */
  readonly requestId: string;
};

export function messagesClient(settings: Settings): MessagesClient {
  const { baseUrl, secrets, clock } = settings;
  const headersOf = (
    accept: string,
    requestId: string,
  ): Readonly<Record<string, string | null>> => ({
    accept,
    'x-request-id': requestId,
    ...settings.headers,
  });
  const names = Object.keys(headersOf('', ''));
  const client = new Anthropic({
    // Without a key the SDK would look for one on this machine, and send it to whatever address was given.
    apiKey: 'none',
    authToken: null,
    webhookKey: null,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: NO_LIMIT_MS,
    // Core's observer has a span for each call already.
    openTelemetry: false,
    // What is sent is nobody's to log, and a redirect is the caller's to hear of: to follow it would hand the prompt, and a
    // key in a header of its own, to another host.
    logLevel: 'off',
    fetchOptions: { redirect: 'manual' },
    fetch: (url, init) => {
      const headers = onlyHeaders(new Headers(init?.headers), names);
      return (settings.fetch ?? globalThis.fetch)(url, { ...init, headers });
    },
  });

  const errorContext = (kind: 'messages' | 'count_tokens'): ErrorContext => ({
    at: `${baseUrl}/v1/messages${kind === 'messages' ? '' : '/count_tokens'}`,
    secrets,
    hints: HINTS,
    now: clock.now(),
  });

  const sent = async <T>(
    kind: 'messages' | 'count_tokens',
    call: Linked,
    work: () => PromiseLike<T>,
  ): Promise<T> => {
    try {
      return await call.until(work());
    } catch (error) {
      call.throwIfAborted();
      throw requestError(error, errorContext(kind));
    }
  };

  return {
    open(body, { call, requestId }) {
      const headers = headersOf('text/event-stream', requestId);
      return sent('messages', call, () => {
        const response = client.messages
          .create(body, { signal: call.signal, headers })
          .asResponse();
        // A fetch that does not look at its signal may still bring one, which nobody reads.
        response
          .then(({ body: late }) => (call.aborted ? late?.cancel() : undefined))
          .catch(() => undefined);
        return response;
      });
    },
    count: (body, { call, requestId }) =>
      sent('count_tokens', call, () =>
        client.messages.countTokens(body, {
          signal: call.signal,
          headers: headersOf('application/json', requestId),
        }),
      ),
    errorContext,
  };
}
