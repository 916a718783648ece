import type { Agent, IncomingMessage } from 'node:http';
import type { Exchange, Transport, WireRequest, WireResponse } from './transport.ts';

/** Characters that are kept for a slow reader before the socket is told to wait. */
const HIGH_WATER = 1 << 20;
/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;

type Client = {
  readonly request: typeof import('node:http').request;
  readonly agent: Agent;
};

/**
 * The transport over `node:http` and `node:https`, with connections kept alive. Loaded at the first
 * request, so that other runtimes can import this package.
 */
export function nodeTransport(): Transport {
  const clients = new Map<string, Promise<Client>>();
  const clientFor = (protocol: string): Promise<Client> => {
    const known = clients.get(protocol);
    if (known !== undefined) return known;
    const client = open(protocol);
    clients.set(protocol, client);
    return client;
  };
  return {
    async send(request, exchange) {
      const client = await clientFor(new URL(request.url).protocol);
      try {
        return await attempt(client, request, exchange);
      } catch (error) {
        // The server closed a kept connection just as it was used: nothing was wrong with the request.
        if (!isStale(error) || exchange.signal.aborted) throw error;
        return attempt(client, request, exchange);
      }
    },
    close() {
      for (const client of clients.values()) void client.then(({ agent }) => agent.destroy());
      clients.clear();
    },
  };
}

async function open(protocol: string): Promise<Client> {
  const module = protocol === 'https:' ? await import('node:https') : await import('node:http');
  return {
    request: module.request,
    agent: new module.Agent({ keepAlive: true, scheduling: 'lifo' }),
  };
}

function attempt(client: Client, wire: WireRequest, exchange: Exchange): Promise<WireResponse> {
  const { signal, onConnect, onBytes } = exchange;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const { method, headers, body } = wire;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = client.request(wire.url, {
      method,
      headers: { ...headers, ...length },
      agent: client.agent,
    });
    const stop = (): void => {
      request.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    request.on('socket', (socket) => {
      if (!socket.connecting) onConnect();
      else socket.once(wire.url.startsWith('https:') ? 'secureConnect' : 'connect', onConnect);
    });
    request.on('response', (response) => {
      signal.removeEventListener('abort', stop);
      resolve(responseOf(response, { signal, onBytes }));
    });
    request.on('error', (error) => {
      signal.removeEventListener('abort', stop);
      if (request.reusedSocket) Object.assign(error, { [REUSED]: true });
      reject(error);
    });
    request.end(body);
  });
}

const REUSED = Symbol('reused connection');

function isStale(error: unknown): boolean {
  return (
    error instanceof Error && REUSED in error && 'code' in error && error.code === 'ECONNRESET'
  );
}

function responseOf(
  response: IncomingMessage,
  { signal, onBytes }: Pick<Exchange, 'signal' | 'onBytes'>,
): WireResponse {
  let text = '';
  let isEnded = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;

  const stir = (): void => {
    wake?.();
    wake = undefined;
  };
  const onData = (piece: string): void => {
    onBytes();
    text += piece;
    if (text.length > HIGH_WATER) response.pause();
    stir();
  };
  const onStop = (): void => {
    fail(signal.reason);
    response.destroy();
  };
  const settle = (): void => {
    signal.removeEventListener('abort', onStop);
    stir();
  };
  const fail = (error: unknown): void => {
    failure ??= { error };
    settle();
  };
  response.setEncoding('utf8');
  response.on('data', onData);
  response.on('end', () => {
    isEnded = true;
    settle();
  });
  response.on('error', fail);
  signal.addEventListener('abort', onStop, { once: true });
  if (signal.aborted) onStop();

  return {
    status: response.statusCode ?? 0,
    headers: {
      get: (name) => {
        const value = response.headers[name];
        return typeof value === 'string' ? value : value?.join(', ');
      },
    },
    async read() {
      while (text === '' && !isEnded && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal.aborted) throw signal.reason;
      if (text !== '') {
        const taken = text;
        text = '';
        if (response.isPaused()) response.resume();
        return taken;
      }
      if (failure !== undefined) throw failure.error;
      return undefined;
    },
    release() {
      signal.removeEventListener('abort', onStop);
      response.off('data', onData);
      if (isEnded) return;
      const timer = setTimeout(() => response.destroy(), REST_MS);
      timer.unref();
      response.once('close', () => clearTimeout(timer));
      response.resume();
    },
    close() {
      signal.removeEventListener('abort', onStop);
      response.destroy();
    },
  };
}
