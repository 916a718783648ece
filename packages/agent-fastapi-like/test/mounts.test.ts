import { connect } from 'node:net';
import type { HttpMount } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { runNotFound, testMount } from './mount-kit.ts';
import { nodeHost } from './node-host.ts';
import { until } from './sse-client.ts';

let host: RunningHost | undefined;
afterEach(() => host?.close());

test('hands method, path, query, headers and body over, and the answer back', async () => {
  const mount = testMount({
    basePath: '/proto',
    paths: ['/.well-known/proto.json'],
    handle: async (request, { path }) =>
      new Response(
        JSON.stringify({
          method: request.method,
          path,
          search: new URL(request.url).search,
          type: request.headers.get('content-type'),
          body: await request.text(),
        }),
        {
          status: 207,
          headers: [
            ['x-one', '1'],
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ],
        },
      ),
  });
  host = await startHost(fakeGateway(), { mounts: [mount] });
  const { url } = host;
  const told = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init);
    expect(response.status).toBe(207);
    expect(response.headers.get('x-one')).toBe('1');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    return response.json();
  };
  expect(
    await told('/proto/a/b?c=1', {
      method: 'PUT',
      body: 'raw',
      headers: { 'content-type': 'x/y' },
    }),
  ).toEqual({ method: 'PUT', path: '/a/b', search: '?c=1', type: 'x/y', body: 'raw' });
  expect(await told('/proto')).toMatchObject({ method: 'GET', path: '/', body: '' });
  expect(await told('/.well-known/proto.json')).toMatchObject({ path: '/.well-known/proto.json' });
  expect((await fetch(`${url}/prototype`)).status).toBe(404);
});

test('names the request as the host does, and a token that was shown is told to be refused', async () => {
  const mount = testMount({
    handle: async (request) =>
      new Response(request.headers.get('x-request-id'), {
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
      }),
  });
  host = await startHost(fakeGateway(), { mounts: [mount] });
  const url = `${host.url}/proto`;
  const asked = async (headers: Record<string, string>) => {
    const response = await fetch(url, { headers });
    return [response.headers.get('www-authenticate'), await response.text()];
  };
  expect(await asked({ 'x-request-id': 'mine-1' })).toEqual(['Bearer', 'mine-1']);
  expect(await asked({ authorization: 'Bearer stale' })).toEqual([
    'Bearer error="invalid_token"',
    expect.stringMatching(/./),
  ]);
});

test('an answer without a body, and one to HEAD', async () => {
  const mount = testMount({ handle: async () => new Response(null, { status: 204 }) });
  host = await startHost(fakeGateway(), { mounts: [mount] });
  const head = await fetch(`${host.url}/proto`, { method: 'HEAD' });
  expect(head.status).toBe(204);
});

test('a body above the limit breaks off while it is read, declared or not', async () => {
  const mount = testMount({ handle: async (request) => new Response(await request.text()) });
  host = await startHost(fakeGateway(), { mounts: [mount], limits: { bodyBytes: 10 } });
  const small = await fetch(`${host.url}/proto`, { method: 'POST', body: '0123456789' });
  expect(await small.text()).toBe('0123456789');
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new Uint8Array(20));
      controller.close();
    },
  });
  for (const body of ['01234567890', stream]) {
    const large = await fetch(`${host.url}/proto`, {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit);
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ code: 'HTTP_BODY_TOO_LARGE' });
  }
});

test('what a mount throws is answered by the table', async () => {
  const mount = testMount({
    handle: async (_request, { path }) => {
      throw path === '/known' ? runNotFound('r9') : new Error('secret');
    },
  });
  host = await startHost(fakeGateway(), { mounts: [mount] });
  expect((await fetch(`${host.url}/proto/known`)).status).toBe(404);
  const bug = await fetch(`${host.url}/proto/bug`);
  expect(bug.status).toBe(500);
  expect(await bug.text()).not.toContain('secret');
});

test('authenticates by the host’s function; nobody is 401', async () => {
  const mount = testMount({
    handle: async (request, { authenticate }) => Response.json(await authenticate(request)),
  });
  host = await startHost(fakeGateway(), {
    mounts: [mount],
    authenticate: (request) => {
      const tenantId = request.headers.get('x-tenant');
      if (tenantId === null) return undefined;
      return { scope: { tenantId }, subject: 's', roles: [], permissions: [] };
    },
  });
  const known = await fetch(`${host.url}/proto`, {
    method: 'POST',
    body: 'b',
    headers: { 'x-tenant': 't' },
  });
  expect(await known.json()).toMatchObject({ scope: { tenantId: 't' } });
  expect((await fetch(`${host.url}/proto`)).status).toBe(401);
});

test('streams as it comes, and tells the mount when the client leaves', async () => {
  const seen = { cancelled: false, aborted: false };
  const mount = testMount({
    handle: async (_request, { signal }) => {
      signal.addEventListener('abort', () => {
        seen.aborted = true;
      });
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
          cancel: () => {
            seen.cancelled = true;
          },
        }),
      );
    },
  });
  host = await startHost(fakeGateway(), { mounts: [mount] });
  const leaving = new AbortController();
  const response = await fetch(`${host.url}/proto`, { signal: leaving.signal });
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toBe('first');
  expect(seen).toEqual({ cancelled: false, aborted: false });
  leaving.abort();
  await until(() => seen.cancelled && seen.aborted);
});

test('work that outlives its response is waited for when the host closes, also when it fails', async () => {
  let finish: () => void = () => undefined;
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const mount = testMount({
    handle: async (_request, { waitUntil }) => {
      waitUntil(work);
      waitUntil(Promise.reject(new Error('told to the log')));
      return new Response('at once');
    },
  });
  const running = await startHost(fakeGateway(), { mounts: [mount] });
  expect(await (await fetch(`${running.url}/proto`)).text()).toBe('at once');
  let closed = false;
  const closing = running.close().then(() => {
    closed = true;
  });
  await until(() => running.server.url === undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(false);
  finish();
  await closing;
});

/** A mount whose stream says a last word when it is told to end; without one it would stay open for ever. */
function lastWord(begun: () => void): HttpMount {
  const encoder = new TextEncoder();
  return testMount({
    handle: async (_request, { signal }) =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(encoder.encode('data: first\n\n'));
            begun();
          },
          pull: (controller) =>
            new Promise((resolve) => {
              const end = (): void => {
                controller.enqueue(encoder.encode(`data: ${String(signal.reason.code)}\n\n`));
                controller.close();
                resolve();
              };
              if (signal.aborted) end();
              else signal.addEventListener('abort', end, { once: true });
            }),
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  });
}

test('a stream of events is told when the host closes, and its last word reaches the client', async () => {
  const running = await startHost(fakeGateway(), {
    mounts: [lastWord(() => undefined)],
    limits: { drainMs: 60_000 },
  });
  const response = await fetch(`${running.url}/proto`);
  const closing = running.close();
  expect(await response.text()).toBe('data: first\n\ndata: HOST_CLOSING\n\n');
  await closing;
});

test('a stream of events that begins while the host closes ends at once', async () => {
  let go: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const inner = lastWord(() => undefined);
  const slow: HttpMount = {
    ...inner,
    handle: async (request, context) => {
      asked();
      await gate;
      return inner.handle(request, context);
    },
  };
  const running = await startHost(fakeGateway(), {
    mounts: [slow],
    limits: { drainMs: 60_000 },
  });
  const text = fetch(`${running.url}/proto`).then((response) => response.text());
  await isAsked;
  const closing = running.close();
  go();
  expect(await text).toContain('HOST_CLOSING');
  await closing;
});

test('two mounts at one address, one at the host’s, and what is no path are refused together', async () => {
  const at = (basePath: string, paths: readonly string[] = []): HttpMount =>
    testMount({ basePath, paths });
  const clash = startHost(fakeGateway(), {
    mounts: [at('/a', ['/card']), at('/a', ['/card']), at('/runs'), at('b/')],
  });
  await expect(clash).rejects.toMatchObject({ code: 'BOOTSTRAP_INVALID' });
  const message = await clash.catch((error: Error) => error.message);
  expect(message).toContain('4 problems');
  expect(message).toContain('mounts[1] "/a": is taken by mounts[0] "/a".');
  expect(message).toContain('mounts[2] "/runs": is taken by the host.');
  expect(message).toContain('mounts[3] "b/": is not a path.');
});

test('claims meet inside one another as well: a path below a mount, a route of the application, the page of the docs', async () => {
  const at = (basePath: string, paths: readonly string[] = []): HttpMount =>
    testMount({ basePath, paths });
  const clash = startHost(fakeGateway(), {
    mounts: [at('/a'), at('/a/b'), at('/docs/mine'), at('/c', ['/runs/r1', '/shop/1'])],
    routes: (api) => api.get('/shop/:id', {}, () => undefined),
  });
  const message = await clash.then(String, (error: Error) => error.message);
  expect(message).toContain('mounts[1] "/a/b": is taken by mounts[0] "/a".');
  expect(message).toContain('mounts[2] "/docs/mine": is taken by the host.');
  expect(message).toContain('mounts[3] "/runs/r1": is taken by the host.');
  expect(message).toContain('routes GET "/shop/:id": is taken by mounts[3] "/shop/1".');
  expect(message).toContain('4 problems');
});

/** A mount that counts what it was asked for: bytes as fast as they are read, for ever. */
function endless(): { readonly mount: HttpMount; readonly given: () => number; left: boolean } {
  let given = 0;
  const seen = {
    mount: testMount({
      handle: async (request, { signal }) => {
        signal.addEventListener('abort', () => {
          seen.left = true;
        });
        await request.text();
        return new Response(
          new ReadableStream({
            pull: (controller) => {
              given += 1;
              controller.enqueue(new Uint8Array(65_536));
            },
          }),
        );
      },
    }),
    given: () => given,
    left: false,
  };
  return seen;
}

/** Settles when a number has stayed the same for a while of turns. */
async function settled(value: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await until(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return last > 0 && same > 200;
  });
  return last;
}

test.each(['Fastify', 'node:http'])(
  'on %s a body that nobody reads is not made, and a client that leaves ends it',
  async (kind) => {
    const seen = endless();
    const other = kind === 'Fastify' ? undefined : await nodeHost(seen.mount, fakeGateway());
    if (other === undefined) host = await startHost(fakeGateway(), { mounts: [seen.mount] });
    const url = new URL(other?.url ?? host?.url ?? '');
    const socket = connect(Number(url.port), url.hostname);
    socket.pause();
    socket.write('GET /proto HTTP/1.1\r\nhost: localhost\r\n\r\n');
    // What the sockets of both sides hold is bounded: far below what a loop without backpressure would have made.
    expect(await settled(seen.given)).toBeLessThan(1_000);
    expect(seen.left).toBe(false);
    socket.destroy();
    await until(() => seen.left);
    await other?.close();
  },
);

test('a mount needs no Fastify: the same one answers the same behind plain node:http', async () => {
  const mount = testMount({
    paths: ['/.well-known/proto.json'],
    handle: async (request, { path, authenticate, gateway }) =>
      Response.json({
        path,
        method: request.method,
        body: await request.text(),
        subject: (await authenticate(request)).subject,
        agents: typeof gateway.agents,
      }),
  });
  const plain = await nodeHost(mount, fakeGateway());
  host = await startHost(fakeGateway(), { mounts: [mount] });
  const told = async (url: string, path: string, init: RequestInit): Promise<unknown> =>
    (await fetch(`${url}${path}`, init)).json();
  for (const [path, init] of [
    ['/proto', {}],
    ['/proto/a/b', { method: 'POST', body: 'raw' }],
    ['/.well-known/proto.json', {}],
  ] as const)
    expect(await told(plain.url, path, init)).toEqual(await told(host.url, path, init));
  await plain.close();
});
