import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import type { Watch } from './deadlines.ts';
import type { Transport, WireRequest, WireResponse } from './transport.ts';

/** Characters that are kept for a slow reader before the socket is told to wait. */
const HIGH_WATER = 1 << 20;
/** How long the rest of a finished answer may take before its connection is given up. */
const REST_MS = 1000;

type Client = {
  readonly request: typeof import('node:http').request;
  readonly agent: Agent;
  /** What is the same for every request to one address: it is parsed once. */
  readonly target: RequestOptions;
  /** The event of a socket after which it can be written to. */
  readonly connected: 'connect' | 'secureConnect';
};

/**
 * The transport over `node:http` and `node:https`, with connections kept alive. Loaded at the first
 * request, so that other runtimes can import this package.
 */
export function nodeTransport(): Transport {
  const agents = new Map<string, Agent>();
  const clients = new Map<string, Promise<Client>>();
  const clientFor = (url: string): Promise<Client> => {
    const known = clients.get(url);
    if (known !== undefined) return known;
    const client = open(url, agents);
    clients.set(url, client);
    return client;
  };
  return {
    async send(request, watch) {
      const client = await clientFor(request.url);
      try {
        return await attempt(client, request, watch);
      } catch (error) {
        // The server closed a kept connection just as it was used: nothing was wrong with the request.
        if (!isStale(error) || watch.stopped !== undefined) throw error;
        return attempt(client, request, watch);
      }
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

async function open(url: string, agents: Map<string, Agent>): Promise<Client> {
  const { protocol, hostname, port, pathname } = new URL(url);
  const isSecure = protocol === 'https:';
  const module = isSecure ? await import('node:https') : await import('node:http');
  const agent = agents.get(protocol) ?? new module.Agent({ keepAlive: true, scheduling: 'lifo' });
  agents.set(protocol, agent);
  return {
    request: module.request,
    agent,
    target: {
      protocol,
      // An address of IPv6 stands in brackets in a URL only.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      path: pathname,
      ...(port === '' ? {} : { port }),
    },
    connected: isSecure ? 'secureConnect' : 'connect',
  };
}

function attempt(client: Client, wire: WireRequest, watch: Watch): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const { method, headers, body } = wire;
    const request = client.request({
      ...client.target,
      method,
      agent: client.agent,
      headers:
        body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    request.on('socket', (socket) => {
      if (!socket.connecting) watch.onConnect();
      else socket.once(client.connected, () => watch.onConnect());
    });
    request.on('response', (response) => resolve(responseOf(response, watch)));
    request.on('error', (error) => {
      if (request.reusedSocket) Object.assign(error, { [REUSED]: true });
      reject(error);
    });
    request.end(body);
    watch.listen((reason) => {
      reject(reason);
      request.destroy();
    });
  });
}

const REUSED = Symbol('reused connection');

function isStale(error: unknown): boolean {
  return (
    error instanceof Error && REUSED in error && 'code' in error && error.code === 'ECONNRESET'
  );
}

function responseOf(response: IncomingMessage, watch: Watch): WireResponse {
  let text = '';
  let isEnded = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;

  const stir = (): void => {
    wake?.();
    wake = undefined;
  };
  const onData = (piece: string): void => {
    watch.onBytes();
    text += piece;
    if (text.length > HIGH_WATER) response.pause();
    stir();
  };
  const fail = (error: unknown): void => {
    failure ??= { error };
    stir();
  };
  const close = (reason: unknown): void => {
    // What is still here is not wanted any more.
    text = '';
    fail(reason);
    response.destroy();
  };
  response.setEncoding('utf8');
  response.on('data', onData);
  response.on('end', () => {
    isEnded = true;
    stir();
  });
  response.on('error', fail);
  watch.listen(close);

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
        watch.onRead();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
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
      watch.listen(undefined);
      if (isEnded) return;
      response.off('data', onData);
      const timer = setTimeout(() => response.destroy(), REST_MS);
      timer.unref();
      response.once('close', () => clearTimeout(timer));
      response.resume();
    },
    close,
  };
}
