import fastifyCors from '@fastify/cors';
import fastifyHelmet from '@fastify/helmet';
import fastifyRateLimit from '@fastify/rate-limit';
import fastifyUnderPressure from '@fastify/under-pressure';
import fastifyWebsocket from '@fastify/websocket';
import {
  type App,
  bind,
  bootstrap,
  defineAgent,
  definePort,
  HttpMount,
} from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { type AgentRoutesOptions, agentMounts, agentRoutes } from '../src/index.ts';
import { AT_ONCE, ask } from './client.ts';
import { testMount } from './mount-kit.ts';
import { connect, event, typed } from './socket-client.ts';
import { eventsOf } from './sse-client.ts';

const scribe = defineAgent({ name: 'scribe', recovery: 'action-boundary' });
const Shop = definePort<{ readonly open: boolean }>('shop');
const principal = {
  scope: { tenantId: 't', userId: 'u' },
  subject: 'u',
  roles: [],
  permissions: [],
};

let runtime: App;
let server: FastifyInstance | undefined;
afterEach(async () => {
  await server?.close();
  await runtime.close();
  server = undefined;
});

type Given = Partial<AgentRoutesOptions> & { readonly prefix?: string };

/** An application that somebody has already, with habits of its own, and the agents in it. */
async function serve(given: Given = { prefix: '/ai' }, mounts = false): Promise<string> {
  runtime = await bootstrap({
    plugins: [scriptedModel([{ text: 'Hello.' }]), memoryDurability()],
    provide: [
      bind(Shop, { open: true }),
      bind(HttpMount, testMount({ paths: ['/.well-known/proto.json'] })),
    ],
    agents: [scribe],
  });
  server = fastify({ genReqId: () => 'theirs' });
  await server.register(fastifyHelmet);
  await server.register(fastifyCors);
  server.setErrorHandler((error, _request, reply) => reply.code(599).send(String(error)));
  server.setNotFoundHandler((_request, reply) => reply.code(404).send('theirs'));
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, { mangled: body }),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-hook', request.url);
  });
  server.get('/theirs', async () => ({ theirs: true }));
  server.get('/broken', async () => {
    throw new Error('theirs');
  });
  server.post('/echo', async ({ body }) => body);
  const options = { runtime, authenticate: () => principal, ...given };
  await server.register(agentRoutes, options);
  if (mounts) await server.register(agentMounts, { runtime, authenticate: () => principal });
  return server.listen({ host: '127.0.0.1', port: 0 });
}

test('serves under its prefix, and says so in its addresses and its document', async () => {
  const url = await serve();
  const started = await ask(`${url}/ai/agents/scribe/runs`, {
    body: { message: 'hi' },
    headers: AT_ONCE,
  });
  expect(started.status).toBe(202);
  const location = started.headers.get('location');
  expect(location).toMatch(/^\/ai\/runs\//);
  const events = await eventsOf(await fetch(`${url}${location}/events`));
  expect(events.at(-1)?.data).toContain('run-finished');
  expect((await ask(`${url}/ai/openapi.json`)).body).toMatchObject({ servers: [{ url: '/ai' }] });
  expect(await (await fetch(`${url}/ai/docs`)).text()).toContain('swagger-ui-bundle.js');
  expect((await fetch(`${url}/agents`)).status).toBe(404);
});

test('errors, parsers and unknown paths are its own inside, and the application’s outside; hooks of the application see both', async () => {
  const url = await serve();
  const inside = await ask(`${url}/ai/runs/nothing`);
  expect(inside).toMatchObject({ status: 404, body: { code: 'RUN_NOT_FOUND' } });
  expect(inside.headers.get('x-hook')).toBe('/ai/runs/nothing');
  expect(inside.headers.get('x-request-id')).toBe('theirs');
  expect(await ask(`${url}/ai/nowhere`)).toMatchObject({
    status: 404,
    body: { code: 'HTTP_ROUTE_UNKNOWN' },
  });
  expect(await ask(`${url}/ai/runs`, { method: 'DELETE' })).toMatchObject({ status: 405 });
  expect((await fetch(`${url}/broken`)).status).toBe(599);
  expect(await (await fetch(`${url}/nowhere`)).text()).toBe('theirs');
  expect((await ask(`${url}/theirs`)).body).toEqual({ theirs: true });
  expect((await ask(`${url}/echo`, { body: { a: 1 } })).body).toEqual({ mangled: '{"a":1}' });
  const policy = (path: string) =>
    fetch(`${url}${path}`).then(({ headers }) => headers.get('content-security-policy'));
  expect(await policy('/ai/agents')).toBe("default-src 'none';frame-ancestors 'none'");
  expect(await policy('/theirs')).toContain("default-src 'self'");
});

test('two of them stand side by side, and one without a prefix leaves unknown paths to the application', async () => {
  const url = await serve({});
  expect((await ask(`${url}/agents`)).status).toBe(200);
  expect(await (await fetch(`${url}/nowhere`)).text()).toBe('theirs');
  await server?.close();
  await runtime.close();
  runtime = await bootstrap({ plugins: [scriptedModel([])], agents: [defineAgent({ name: 'a' })] });
  server = fastify();
  for (const prefix of ['/one', '/two'])
    await server.register(agentRoutes, { prefix, runtime, authenticate: () => principal });
  const both = await server.listen({ host: '127.0.0.1', port: 0 });
  for (const prefix of ['/one', '/two'])
    expect((await ask(`${both}${prefix}/agents`)).body).toMatchObject({ items: [{ name: 'a' }] });
});

test('a body is as large as its own limit says, not the application’s', async () => {
  const url = await serve({ prefix: '/ai', limits: { bodyBytes: 30 } });
  const body = { message: 'x'.repeat(30) };
  expect(await ask(`${url}/ai/agents/scribe/runs`, { body })).toMatchObject({
    status: 413,
    body: { code: 'HTTP_BODY_TOO_LARGE' },
  });
  expect((await ask(`${url}/echo`, { body })).status).toBe(200);
});

test('in an application that limits its callers and measures its process the host counts for itself', async () => {
  runtime = await bootstrap({ plugins: [scriptedModel([])], agents: [defineAgent({ name: 'a' })] });
  const options = { runtime, authenticate: () => principal };
  server = fastify();
  await server.register(fastifyRateLimit, { max: 50, global: false });
  for (const prefix of ['/one', '/two'])
    await server.register(agentRoutes, { prefix, limits: { requests: 2 }, ...options });
  const limited = await server.listen({ host: '127.0.0.1', port: 0 });
  for (const prefix of ['/one', '/two'])
    expect((await ask(`${limited}${prefix}/agents`)).headers.get('ratelimit-remaining')).toBe('1');
  await server.close();
  server = fastify();
  await server.register(fastifyUnderPressure, { maxRssBytes: 1, sampleInterval: 10 });
  await server.register(agentRoutes, options);
  const pressed = await server.listen({ host: '127.0.0.1', port: 0 });
  let answer = await ask(`${pressed}/agents`);
  while (answer.status === 200) answer = await ask(`${pressed}/agents`);
  expect(answer).toMatchObject({ status: 503, body: { code: 'HOST_OVERLOADED' } });
});

test('who is refused by the limit of the application is told so in the form of the host', async () => {
  runtime = await bootstrap({ plugins: [scriptedModel([])], agents: [] });
  server = fastify();
  await server.register(fastifyRateLimit, { max: 1, hook: 'preHandler' });
  await server.register(agentRoutes, { runtime, authenticate: () => principal });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  expect((await ask(`${url}/agents`)).status).toBe(200);
  const refused = await ask(`${url}/agents`);
  expect(refused).toMatchObject({ status: 429, body: { code: 'HTTP_RATE_LIMITED' } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('sockets are served beside those of the application, whose server of sockets they share', async () => {
  const opened = async (hasOwn: boolean): Promise<void> => {
    runtime = await bootstrap({
      plugins: [scriptedModel([{ text: 'Hello.' }, { text: 'Hello.' }])],
      agents: [defineAgent({ name: 'echo' })],
    });
    server = fastify();
    if (hasOwn) {
      await server.register(fastifyWebsocket);
      await server.register(async (scope) => {
        scope.get('/theirs', { websocket: true }, (socket) =>
          socket.send('{"v":1,"type":"theirs"}'),
        );
      });
    }
    for (const prefix of ['/one', '/two'])
      await server.register(agentRoutes, {
        prefix,
        runtime,
        authenticate: () => principal,
        limits: { bodyBytes: 1_000 },
      });
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    if (hasOwn) {
      const theirs = await connect(url, '/theirs');
      await theirs.next(typed('theirs'));
      theirs.socket.terminate();
    }
    for (const prefix of ['/one', '/two']) {
      const client = await connect(url, `${prefix}/agents/echo/ws`);
      await client.next(typed('ready'));
      client.say({ type: 'start', input: { message: 'x' } });
      await client.next(event('run-finished'));
      client.socket.send('x'.repeat(2_000));
      expect((await client.closed).code).toBe(1009);
    }
    const last = await connect(url, '/one/agents/echo/ws');
    await server.close();
    // The application's own server of sockets says goodbye in its own way.
    expect((await last.closed).code).toBe(hasOwn ? 1005 : 1012);
    await runtime.close();
  };
  await opened(true);
  await opened(false);
});

test('routes of the application get ports of the runtime', async () => {
  const url = await serve({
    prefix: '/ai',
    routes: (api) => {
      api.get(
        '/shop',
        { response: Type.Object({ open: Type.Boolean() }), needs: { shop: Shop } },
        ({ deps }) => deps.shop,
      );
    },
  });
  expect((await ask(`${url}/ai/shop`)).body).toEqual({ open: true });
});

test('mounts stand at the paths that they say', async () => {
  const url = await serve({ prefix: '/ai' }, true);
  for (const path of ['/proto', '/proto/below', '/.well-known/proto.json'])
    expect(await (await fetch(`${url}${path}`)).text()).toBe('ok');
  expect((await ask(`${url}/theirs`)).body).toEqual({ theirs: true });
});

test('mounts below a prefix, where they would not be where they say, are refused with what to do', async () => {
  await serve();
  for (const prefixed of ['/ai', '/']) {
    const around = fastify();
    around.register(agentMounts, { runtime, authenticate: () => principal, prefix: prefixed });
    const ready = around.ready().then(() => 'ready', String);
    if (prefixed === '/') expect(await ready).toBe('ready');
    else expect(await ready).toMatch(/is "\/ai", and .*without a prefix.*basePath: '\/ai\/ag-ui'/s);
    await around.close();
  }
});

test('mounts stand in no document that the application makes of its routes', async () => {
  await serve();
  const hidden: unknown[] = [];
  const around = fastify();
  around.addHook('onRoute', ({ url, schema }) => void hidden.push([url, schema]));
  await around.register(agentMounts, { runtime, authenticate: () => principal });
  await around.ready();
  expect(hidden.length).toBeGreaterThan(2);
  for (const [, schema] of hidden as readonly (readonly [string, unknown])[])
    expect(schema).toMatchObject({ hide: true });
  await around.close();
});

test('two mounts at one path are refused, also inside an application', async () => {
  await serve();
  await server?.close();
  server = fastify();
  const mounts = [testMount({})];
  server.register(agentMounts, { runtime, authenticate: () => principal, mounts });
  await expect(server.ready()).rejects.toThrow('is taken by mounts[0]');
});

test('without authenticate, or with a port that is not there, it is not registered', async () => {
  const missing = definePort<number>('missing');
  for (const [given, word] of [
    [{ authenticate: undefined }, 'agentRoutes.options.authenticate: is missing.'],
    [{ cors: {} }, 'agentRoutes.options.cors: is not an option.'],
    [
      { routes: (api) => api.get('/x', { needs: { missing } }, () => undefined) },
      'need "missing", which nothing provides.',
    ],
  ] as readonly (readonly [Given, string])[]) {
    await expect(serve(given)).rejects.toThrow(word);
    await server?.close();
    await runtime.close();
  }
  runtime = await bootstrap({ plugins: [scriptedModel([])], agents: [defineAgent({ name: 'a' })] });
  server = fastify();
  const routes: AgentRoutesOptions['routes'] = (api) =>
    api.get('/x', { needs: { missing } }, () => undefined);
  server.register(agentRoutes, { runtime: runtime.runs, authenticate: () => principal, routes });
  await expect(server.ready()).rejects.toThrow('not its gateway');
});

test('a stream ends when the application closes', async () => {
  const url = await serve();
  const started = await ask(`${url}/ai/agents/scribe/runs`, {
    body: { message: 'hi' },
    headers: AT_ONCE,
  });
  await eventsOf(await fetch(`${url}${started.headers.get('location')}/events`));
  await server?.close();
  await expect(fetch(`${url}/ai/healthz`)).rejects.toThrow();
});
