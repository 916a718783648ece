import type { HttpMount, Principal } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { headOf, rawAsk } from './raw-client.ts';

const principal: Principal = { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };

let host: RunningHost;
let asked: string[];
let mounted: string[];
const mount: HttpMount = {
  basePath: '/proto',
  handle: async (request, { path, authenticate }) => {
    await authenticate(request);
    mounted.push(`${new URL(request.url).pathname} ${path}`);
    return new Response('mounted');
  },
};

beforeEach(async () => {
  asked = [];
  mounted = [];
  host = await startHost(fakeGateway(), {
    mounts: [mount],
    authenticate: ({ url }) => {
      asked.push(new URL(url).pathname);
      return principal;
    },
  });
});
afterEach(() => host.close());

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

test.each(['a b', '[', 'x@y', '127.0.0.1:99999', 'a/public', 'a?b', 'a#b', 'a\\b'])(
  'a host that is no name is refused, and nobody is asked who that is: %s',
  async (name) => {
    const answer = await rawAsk(host.url, headOf('GET /runs HTTP/1.1', { host: name }));
    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain('"code":"HTTP_REQUEST_INVALID"');
    expect(asked).toEqual([]);
  },
);

test('a request of HTTP/1.0 needs no host, and a name may be any', async () => {
  expect(statusOf(await rawAsk(host.url, 'GET /runs HTTP/1.0\r\n\r\n'))).toBe(200);
  for (const name of ['', 'agents.example', 'my_service:8080', '[::1]:8080', 'LOCALHOST']) {
    const answer = await rawAsk(host.url, headOf('GET /runs HTTP/1.1', { host: name }));
    expect([name, statusOf(answer)]).toEqual([name, 200]);
  }
});

test('whatever stands in the line of a request, who says who asks and a mount see the path that it was routed by', async () => {
  for (const [target, status] of [
    ['http://elsewhere.example/runs', 200],
    ['http://elsewhere.example/proto/a?b=http://c', 200],
    ['/runs?a=/public', 422],
    ['/runs#/public', 422],
    ['/proto/../public', 400],
    ['/proto/%2e%2E/public', 400],
    ['/proto/.', 400],
    ['/proto/..\\public', 400],
    ['/proto//public', 200],
    ['//runs', 404],
    ['http://elsewhere.example', 404],
  ] as const) {
    const answer = await rawAsk(host.url, headOf(`GET ${target} HTTP/1.1`));
    expect([target, statusOf(answer)]).toEqual([target, status]);
  }
  expect([...new Set(asked)]).toEqual(['/runs', '/proto/a', '/proto//public']);
  expect(mounted).toEqual(['/proto/a /a', '/proto//public //public']);
});
