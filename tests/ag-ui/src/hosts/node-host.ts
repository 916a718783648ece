import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpMount, Principal, RunGateway } from '@hexagent/agent-core';

export type Host = { readonly url: string; close(): Promise<void> };

export const ALICE: Principal = {
  scope: { tenantId: 'acme', userId: 'alice' },
  subject: 'alice',
  roles: [],
  permissions: [],
};

/** A host of a mount over `node:http` and nothing else: what a request needs is all in `Request` and `Response`. */
export async function nodeHost(
  mount: HttpMount,
  gateway: RunGateway,
  principalOf: (request: Request) => Principal = () => ALICE,
): Promise<Host> {
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing, { mount, gateway, principalOf }).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  {
    mount,
    gateway,
    principalOf,
  }: {
    readonly mount: HttpMount;
    readonly gateway: RunGateway;
    readonly principalOf: (request: Request) => Principal;
  },
): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => left.abort(new Error('The client has left.')));
  const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (typeof value === 'string') headers.set(name, value);
  const method = incoming.method ?? 'GET';
  const body = method === 'POST' ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {};
  const request = new Request(url, { method, headers, ...body });
  const response = await mount.handle(request, {
    gateway,
    path: url.pathname.slice(mount.basePath.length) || '/',
    signal: left.signal,
    authenticate: async () => principalOf(request),
    waitUntil: (work) => void work.catch(() => undefined),
  });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void outgoing.end();
  const reader = response.body.getReader();
  outgoing.once('close', () => void reader.cancel(left.signal.reason).catch(() => undefined));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value)) await new Promise((resolve) => outgoing.once('drain', resolve));
  }
  outgoing.end();
}
