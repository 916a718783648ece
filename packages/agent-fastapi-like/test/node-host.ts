import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { errorAnswerOf, type HttpMount, type RunGateway } from '@hexagent/agent-core';

/** The smallest host of mounts: plain `node:http`, no framework. It shows what a mount may rely on, and that it needs no other. */
export async function nodeHost(
  mount: HttpMount,
  gateway: RunGateway,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const working = new Set<Promise<unknown>>();
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      const { status, headers, body } = errorAnswerOf(error);
      if (!response.headersSent) response.writeHead(status, headers).end(JSON.stringify(body));
      else response.destroy();
    });
  });
  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`);
    const isBelow =
      url.pathname === mount.basePath || url.pathname.startsWith(`${mount.basePath}/`);
    if (!isBelow && !mount.paths?.includes(url.pathname)) {
      response.writeHead(404).end();
      return;
    }
    const leaving = new AbortController();
    response.once('close', () => leaving.abort(new Error('The client has left.')));
    const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
    const request = new Request(url, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      signal: leaving.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit);
    const answer = await mount.handle(request, {
      gateway,
      path: isBelow ? url.pathname.slice(mount.basePath.length) || '/' : url.pathname,
      signal: leaving.signal,
      authenticate: async () => ({
        scope: { tenantId: 'local' },
        subject: 'local',
        roles: [],
        permissions: [],
      }),
      waitUntil: (work) => {
        working.add(work);
        work.finally(() => working.delete(work)).catch(() => undefined);
      },
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) {
      response.end();
      return;
    }
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
      if (!response.write(chunk))
        await new Promise<void>((resolve) => {
          const goOn = (): void => {
            for (const sign of ['drain', 'close']) response.off(sign, goOn);
            resolve();
          };
          for (const sign of ['drain', 'close']) response.once(sign, goOn);
        });
    response.end();
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.allSettled(working);
    },
  };
}
