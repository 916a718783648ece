import fastifyWebsocket from '@fastify/websocket';
import { type App, bootstrap, defineAgent, type Principal } from '@hexagent/agent-core';
import { scriptedModel } from '@hexagent/agent-core/testing';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { agentRoutes } from '../src/index.ts';
import { fakeGateway } from './fake-gateway.ts';
import { startHost } from './fake-setup.ts';
import { headOf, rawAsk } from './raw-client.ts';
import { connect, typed } from './socket-client.ts';

const principal: Principal = { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };

let runtime: App | undefined;
let server: FastifyInstance | undefined;
afterEach(async () => {
  server?.server.closeAllConnections();
  await server?.close();
  await runtime?.close();
  server = undefined;
  runtime = undefined;
});

/** An application with the routes of the agents below /ai, and what `more` adds before and after them. */
async function serve(more: {
  readonly before?: (app: FastifyInstance) => unknown;
  readonly after?: (app: FastifyInstance) => unknown;
}): Promise<{ readonly url: string; readonly seen: readonly string[] }> {
  runtime = await bootstrap({
    plugins: [scriptedModel([])],
    agents: [defineAgent({ name: 'echo' })],
  });
  server = fastify();
  const seen: string[] = [];
  server.addHook('onRequest', async ({ url }) => void seen.push(url));
  await more.before?.(server);
  server.register(agentRoutes, { prefix: '/ai', runtime, authenticate: () => principal });
  await more.after?.(server);
  server.get('/plain', async () => 'plain');
  server.post('/plain', async ({ body }) => body);
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), seen };
}

const ours = '/ai/agents/echo/ws';
const theirs = (app: FastifyInstance): void => {
  app.get('/theirs', { websocket: true }, (socket) => socket.send('{"v":1,"type":"theirs"}'));
};
const plugin = async (app: FastifyInstance): Promise<void> => {
  await app.register(fastifyWebsocket);
  theirs(app);
};
const library = (app: FastifyInstance): void => {
  const sockets = new WebSocketServer({ server: app.server, path: '/theirs' });
  sockets.on('connection', (socket) => socket.send('{"v":1,"type":"theirs"}'));
};

test.each([
  [
    'a plugin that comes later',
    { after: (app) => app.register(fastifyWebsocket).after(() => theirs(app)) },
  ],
  ['a plugin of another part that comes before', { before: (app) => void app.register(plugin) }],
  ['a plugin of another part that comes later', { after: (app) => void app.register(plugin) }],
  ['a library that listens before', { before: library }],
  ['a library that listens later', { after: library }],
] satisfies readonly (readonly [string, Parameters<typeof serve>[0]])[])(
  'each socket is opened by whom it is for, and is asked for once: %s',
  async (_name, more) => {
    const { url, seen } = await serve(more);
    for (const [path, word] of [
      [ours, 'ready'],
      ['/theirs', 'theirs'],
    ] as const) {
      const client = await connect(url, path);
      await client.next(typed(word));
      client.socket.close();
      await client.closed;
    }
    expect(seen.filter((path) => path === ours)).toEqual([ours]);
    expect(seen.filter((path) => path === '/theirs').length).toBeLessThan(2);
  },
);

const UPGRADE = { connection: 'close, Upgrade', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
const JSON_BODY = { 'content-type': 'application/json', 'content-length': '15' };

test('a request that asks for another protocol is answered as if it had not, with its body, and its connection goes on', async () => {
  const { url } = await serve({});
  const read = await rawAsk(url, headOf('GET /plain HTTP/1.1', UPGRADE));
  expect(read).toMatch(/^HTTP\/1\.1 200[\s\S]*plain$/);
  const said = headOf('POST /plain HTTP/1.1', { ...JSON_BODY, ...UPGRADE });
  expect(await rawAsk(url, `${said}{"message":"x"}`)).toMatch(/ 200 OK[\s\S]*\{"message":"x"\}$/);
  const nowhere = { ...UPGRADE, upgrade: 'websocket' };
  expect(await rawAsk(url, headOf('GET /nowhere HTTP/1.1', nowhere))).toMatch(/^HTTP\/1\.1 404/);
  // Two at once, the second of which is written before the first is answered: answers keep their order.
  const first = headOf('GET /ai/agents HTTP/1.1', { ...UPGRADE, connection: 'Upgrade' });
  const second = headOf('GET /plain HTTP/1.1', UPGRADE);
  const both = await rawAsk(url, first + second);
  expect(both).toMatch(/^HTTP\/1\.1 200[\s\S]*"echo"[\s\S]*HTTP\/1\.1 200[\s\S]*plain$/);
});

test('an answer that is still to come is waited for before the next request of its connection is looked at', async () => {
  let answer: (() => void) | undefined;
  const { url } = await serve({
    before: (app) =>
      void app.get('/slow', () => new Promise((resolve) => (answer = () => resolve('slow')))),
  });
  const reading = rawAsk(
    url,
    headOf('GET /slow HTTP/1.1', { connection: 'keep-alive' }) +
      headOf('GET /plain HTTP/1.1', UPGRADE),
  );
  await expect.poll(() => answer).toBeDefined();
  answer?.();
  expect(await reading).toMatch(/ 200 OK[\s\S]*slow[\s\S]* 200 OK[\s\S]*plain$/);
});

test('the application closes though somebody was refused a socket', async () => {
  const { url } = await serve({});
  await expect(connect(url, '/nowhere')).rejects.toThrow('404');
  await server?.close();
});

test('the host itself starts a run of a client that asks for HTTP/2 first', async () => {
  const host = await startHost(fakeGateway());
  const headers = { ...JSON_BODY, ...UPGRADE, prefer: 'respond-async' };
  const bytes = `${headOf('POST /agents/echo/runs HTTP/1.1', headers)}{"message":"x"}`;
  expect(await rawAsk(host.url, bytes)).toMatch(/^HTTP\/1\.1 202/);
  await host.close();
});

test.each([
  ['all of it', plugin],
  ['a part of it', async (app: FastifyInstance): Promise<void> => void app.register(plugin)],
] as const)(
  'where the application takes upgrades, what is no socket is answered and closed, and a body cannot be read any more: %s',
  async (_name, before) => {
    const { url } = await serve({ before });
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    for (const [line, headers, status] of [
      ['GET /ai/nowhere HTTP/1.1', upgrade, 404],
      ['POST /ai/agents/echo/runs HTTP/1.1', { ...upgrade, ...JSON_BODY }, 400],
    ] as const) {
      const answer = await rawAsk(url, `${headOf(line, headers)}{"message":"x"}`);
      expect(answer).toContain(`HTTP/1.1 ${status}`);
    }
  },
);

test('the path of a socket says so to whoever asks for none', async () => {
  const host = await startHost(fakeGateway(), { authenticate: () => principal });
  const plain = await fetch(`${host.url}/agents/echo/ws`);
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
  expect(await plain.json()).toMatchObject({ code: 'HTTP_REQUEST_INVALID', status: 426 });
  const posted = await fetch(`${host.url}/agents/echo/ws`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  await host.close();
});
