import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { JsonObject } from '@hexagent/agent-core';

/** A request as the server saw it. */
export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
  readonly socket: Socket;
  /** `complete` when the answer was sent whole, `broken` when the client closed before. */
  readonly ended: Promise<'complete' | 'broken'>;
};

/** Answers one request; may leave it open. */
export type Reply = (response: ServerResponse, received: Received) => void | Promise<void>;

/** A real server on a loopback port that plays what a test tells it to. */
export interface LoopbackServer {
  /** The address without a path. */
  readonly origin: string;
  /** The same up to and with `/v1`. */
  readonly baseUrl: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Replies for the next requests, in order. */
  reply(...replies: readonly Reply[]): void;
  /** The reply of every request for which none was given. */
  otherwise(reply: Reply): void;
  /** Resolves once so many requests have come. */
  requests(count: number): Promise<void>;
  /** Connections that stand now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export async function loopbackServer(): Promise<LoopbackServer> {
  const received: Received[] = [];
  const replies: Reply[] = [];
  let otherwise: Reply = (response) => {
    response.writeHead(500).end('no reply was given for this request');
  };
  let wake: (() => void)[] = [];

  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const piece of request.setEncoding('utf8')) text += piece;
      const entry: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : JSON.parse(text),
        socket: request.socket,
        ended: new Promise((resolve) => {
          response.once('close', () => resolve(response.writableFinished ? 'complete' : 'broken'));
        }),
      };
      received.push(entry);
      const reply = replies.shift() ?? otherwise;
      for (const stir of wake) stir();
      wake = [];
      await reply(response, entry);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast: a server on a port has no other kind of address.
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;

  return {
    origin,
    baseUrl: `${origin}/v1`,
    port,
    received,
    reply: (...next) => {
      replies.push(...next);
    },
    otherwise: (reply) => {
      otherwise = reply;
    },
    async requests(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          wake.push(resolve);
        });
      }
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Begins an event stream. */
export function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** A whole event stream, one write a piece. */
export function streamed(...pieces: readonly string[]): Reply {
  return async (response) => {
    beginStream(response);
    for (const piece of pieces) await write(response, piece);
    response.end();
  };
}

/** Some pieces, and then silence. */
export function stalled(...pieces: readonly string[]): Reply {
  return async (response) => {
    beginStream(response);
    response.flushHeaders();
    for (const piece of pieces) await write(response, piece);
  };
}

/** Some pieces, and then a reset of the connection. */
export function reset(...pieces: readonly string[]): Reply {
  return async (response) => {
    beginStream(response);
    for (const piece of pieces) await write(response, piece);
    response.socket?.resetAndDestroy();
  };
}

/** An answer with a status. */
export function status(
  code: number,
  body: JsonObject | string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return (response) => {
    const isText = typeof body === 'string';
    response.writeHead(code, {
      'content-type': isText ? 'text/plain' : 'application/json',
      ...headers,
    });
    response.end(isText ? body : JSON.stringify(body));
  };
}

/** Resolves once the piece has left this process, so that the next one is a write of its own. */
export function write(response: ServerResponse, piece: string): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.write(piece, () => resolve());
  });
}
