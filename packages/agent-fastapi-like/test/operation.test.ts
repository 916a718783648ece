import type { Principal, RunResult } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import type { HttpHostOptions } from '../src/index.ts';
import { AT_ONCE, ask, problemIn } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { connect, typed } from './socket-client.ts';
import { eventsOf, until } from './sse-client.ts';

const principal = (tenantId: string, permissions: readonly string[] = []): Principal => ({
  scope: { tenantId },
  subject: tenantId,
  roles: [],
  permissions,
});
const byToken = ({ headers }: Request): Principal | undefined => {
  const token = headers.get('authorization')?.replace('Bearer ', '');
  if (token === undefined || token === 'wrong') return undefined;
  return token === 'operator' ? principal('o', ['metrics:read']) : principal(token);
};
const as = (token: string) => ({ authorization: `Bearer ${token}` });

let gateway: FakeGateway;
let host: RunningHost | undefined;
afterEach(() => host?.close());

async function serve(options: Partial<HttpHostOptions> = {}): Promise<string> {
  gateway = fakeGateway();
  host = await startHost(gateway, options);
  return host.url;
}

test('a caller that asks too often is told when to come again; others are not affected', async () => {
  const url = await serve({ authenticate: byToken, limits: { requests: 3, requestsMs: 60_000 } });
  for (const left of ['2', '1', '0']) {
    const { status, headers } = await ask(`${url}/agents`, { headers: as('t1') });
    expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
      200,
      '3',
      left,
    ]);
  }
  const refused = await ask(`${url}/agents`, { headers: as('t1') });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('content-type')).toContain('application/problem+json');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(problemIn(refused).code).toBe('HTTP_RATE_LIMITED');
  expect((await ask(`${url}/agents`, { headers: as('t2') })).status).toBe(200);
  expect((await ask(`${url}/healthz`)).status).toBe(200);
});

test('a route of the application is counted, though it is called like one for who looks after the process', async () => {
  const url = await serve({
    authenticate: byToken,
    limits: { requests: 1 },
    routes: (api) => {
      api.get('/shop/healthz', { response: Type.String() }, () => 'open');
    },
  });
  expect((await ask(`${url}/shop/healthz`, { headers: as('t1') })).status).toBe(200);
  expect((await ask(`${url}/shop/healthz`, { headers: as('t1') })).status).toBe(429);
  expect((await ask(`${url}/healthz`, { headers: as('t1') })).status).toBe(200);
});

test('guesses at a token and unknown paths are counted by address', async () => {
  const url = await serve({ authenticate: byToken, limits: { requests: 3 } });
  expect((await ask(`${url}/runs`, { headers: as('wrong') })).status).toBe(401);
  expect((await ask(`${url}/runs`, { headers: as('wrong') })).status).toBe(401);
  expect((await ask(`${url}/nowhere`)).status).toBe(404);
  expect((await ask(`${url}/runs`, { headers: as('wrong') })).status).toBe(429);
  expect((await ask(`${url}/openapi.json`)).status).toBe(429);
  expect((await ask(`${url}/runs`, { headers: as('t1') })).status).toBe(200);
});

test('messages of a socket are counted with the requests of their caller', async () => {
  const url = await serve({ authenticate: byToken, limits: { requests: 3 } });
  const client = await connect(url, undefined, { headers: as('t1') });
  await client.next(typed('ready'));
  for (const id of ['a', 'b', 'c']) client.say({ id, type: 'unwatch', runId: 'r1' });
  expect(await client.next(({ id }) => id === 'c')).toMatchObject({
    type: 'error',
    error: { code: 'HTTP_RATE_LIMITED' },
  });
  expect((await ask(`${url}/agents`, { headers: as('t1') })).status).toBe(429);
  client.socket.terminate();
});

test('without authenticate, and with a limit of 0, a caller asks as often as it likes', async () => {
  const url = await serve();
  const { status, headers } = await ask(`${url}/agents`);
  expect([status, headers.get('ratelimit-limit')]).toEqual([200, null]);
  await host?.close();
  const other = await serve({ authenticate: byToken, limits: { requests: 0 } });
  const read = await ask(`${other}/agents`, { headers: as('t1') });
  expect([read.status, read.headers.get('ratelimit-limit')]).toEqual([200, null]);
  await host?.close();
  const shared = await serve({ authenticate: byToken });
  const limited = await ask(`${shared}/agents`, { headers: as('t1') });
  expect(limited.headers.get('ratelimit-limit')).toBe('1200');
});

test('a process that is too full takes nothing new, and whoever looks after it still sees it', async () => {
  const url = await serve({ limits: { rssBytes: 1 } });
  // The process is looked at once a second.
  let refused = await ask(`${url}/agents`);
  while (refused.status === 200) refused = await ask(`${url}/agents`);
  expect(refused.status).toBe(503);
  expect(problemIn(refused)).toMatchObject({ code: 'HOST_OVERLOADED' });
  expect(problemIn(refused).detail).toContain('memory');
  expect(refused.headers.get('retry-after')).toBe('5');
  expect((await ask(`${url}/readyz`)).status).toBe(503);
  expect((await ask(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
});

test('a process whose event loop stays late takes nothing new, until it keeps up again', async () => {
  const url = await serve({ limits: { eventLoopDelayMs: 100 } });
  const late = setInterval(() => {
    const end = performance.now() + 250;
    while (performance.now() < end);
  }, 1);
  let answer = await ask(`${url}/agents`);
  while (answer.status === 200) answer = await ask(`${url}/agents`);
  expect(problemIn(answer)).toMatchObject({ code: 'HOST_OVERLOADED' });
  expect(problemIn(answer).detail).toContain('event loop');
  clearInterval(late);
  while (answer.status === 503) answer = await ask(`${url}/agents`);
  expect(answer.status).toBe(200);
});

test('pressure that is not looked for is not found', async () => {
  const url = await serve({ limits: { eventLoopDelayMs: 0 } });
  expect((await ask(`${url}/agents`)).status).toBe(200);
});

const done = (runId: string): RunResult<unknown> =>
  ({ runId, kind: 'completed', text: '', usage: {}, toolCalls: [], evidenceCount: 0 }) as never;

test('metrics: requests by route, what is open, runs by agent and outcome, events, refusals', async () => {
  const url = await serve();
  const start = { body: { message: 'x' }, headers: AT_ONCE };
  await ask(`${url}/agents/echo/runs`, start);
  const stream = await fetch(`${url}/runs/r1/events`, { headers: { accept: 'text/event-stream' } });
  const socket = await connect(url);
  const text = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const open = await text();
  expect(open).toContain('hexagent_http_open{kind="stream"} 1');
  expect(open).toContain('hexagent_http_open{kind="socket"} 1');
  expect(open).toContain('hexagent_runs_started_total{agent="echo"} 1');
  gateway.emit(
    'r1',
    { type: 'run-started' },
    {
      type: 'run-finished',
      outcome: { kind: 'completed', text: '' },
      usage: {},
      summary: { text: '', toolCalls: [], evidenceCount: 0 },
    },
  );
  expect(await eventsOf(stream)).toHaveLength(2);
  gateway.settle('r1', done('r1'));
  socket.socket.terminate();
  await ask(`${url}/somewhere/else`);
  await ask(`${url}/runs/r1`);
  const after = await text();
  for (const line of [
    'hexagent_runs_rested_total{agent="echo",outcome="completed"} 1',
    'hexagent_events_sent_total 2',
    'hexagent_http_requests_total{method="GET",route="/runs/:runId",status="200"} 1',
    'hexagent_http_requests_total{method="GET",route="unknown",status="404"} 1',
    'hexagent_http_request_duration_seconds_count{method="GET",route="/runs/:runId"} 1',
    'hexagent_http_rate_limited_total 0',
  ])
    expect(after).toContain(line);
  expect(after).toMatch(/^process_resident_memory_bytes \d+/m);
  expect(after).not.toContain('somewhere');
  await until(() => gateway.watching() === 0);
});

test('two hosts of a process count for themselves', async () => {
  const url = await serve();
  const other = await startHost(fakeGateway());
  await ask(`${other.url}/agents`);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).not.toContain('route="/agents"');
  await other.close();
});

test('metrics are for callers, or for those with the permission, or for everybody, or for nobody', async () => {
  const url = await serve({ authenticate: byToken });
  const seen = async (address: string, token?: string): Promise<number> => {
    const headers = token === undefined ? {} : as(token);
    return (await fetch(`${address}/metrics`, { headers })).status;
  };
  expect(await seen(url)).toBe(401);
  expect(await seen(url, 't1')).toBe(200);
  await host?.close();
  const permitted = await serve({ authenticate: byToken, metrics: 'permitted' });
  expect(await seen(permitted)).toBe(401);
  expect(await seen(permitted, 't1')).toBe(404);
  expect(await seen(permitted, 'operator')).toBe(200);
  await host?.close();
  expect(await seen(await serve({ authenticate: byToken, metrics: 'public' }))).toBe(200);
  await host?.close();
  const own: HttpHostOptions['routes'] = (api) => api.get('/metrics', {}, () => undefined);
  const without = await serve({ metrics: false, docs: false });
  expect(await seen(without)).toBe(404);
  const { body } = await ask(`${without}/metrics`);
  expect(JSON.stringify(body)).not.toContain('/docs');
  await host?.close();
  expect(await seen(await serve({ metrics: false, routes: own }))).toBe(204);
});
