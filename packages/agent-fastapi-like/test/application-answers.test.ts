import type { JsonObject, Principal } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import type { Routes } from '../src/index.ts';
import { ask } from './client.ts';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { until } from './sse-client.ts';

const principal: Principal = { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };

let host: RunningHost | undefined;
afterEach(() => host?.close());

async function serve(routes: Routes): Promise<string> {
  host = await startHost(fakeGateway(), { routes, authenticate: () => principal });
  return host.url;
}

async function operationsOf(url: string): Promise<Readonly<Record<string, JsonObject>>> {
  const { body } = await ask(`${url}/openapi.json`);
  const { paths } = body as { readonly paths: Readonly<Record<string, JsonObject>> };
  return paths;
}

test('a handler that gives a Response says status, headers, cookies and body by itself', async () => {
  const url = await serve((api) => {
    const answers = {
      201: { description: 'Made.' },
      200: { description: 'Rows.', type: 'text/csv' },
    };
    api.post('/things', { answers, status: 202 }, () => {
      const headers = new Headers({ location: '/things/1' });
      headers.append('set-cookie', 'a=1');
      headers.append('set-cookie', 'b=2');
      return new Response(undefined, { status: 201, headers });
    });
    api.get('/things.csv', { answers }, () => {
      const rows = new ReadableStream({
        start: (controller) => {
          for (const row of ['a,b\n', '1,2\n']) controller.enqueue(new TextEncoder().encode(row));
          controller.close();
        },
      });
      return new Response(rows, { headers: { 'content-type': 'text/csv' } });
    });
  });
  const made = await fetch(`${url}/things`, { method: 'POST' });
  expect([made.status, made.headers.get('location')]).toEqual([201, '/things/1']);
  expect(made.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  const rows = await fetch(`${url}/things.csv`);
  expect([rows.headers.get('content-type'), await rows.text()]).toEqual(['text/csv', 'a,b\n1,2\n']);
  expect((await fetch(`${url}/things.csv`, { method: 'HEAD' })).status).toBe(200);
  const paths = await operationsOf(url);
  expect(paths['/things.csv']).toMatchObject({
    get: { responses: { 200: { description: 'Rows.', content: { 'text/csv': {} } } } },
  });
});

test('a stream of events of the application ends with its client, and with the host', async () => {
  const signals: AbortSignal[] = [];
  const url = await serve((api) => {
    api.get('/ticks', {}, ({ signal }) => {
      signals.push(signal);
      const ticks = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(': open\n\n'));
          signal.addEventListener('abort', () => controller.close(), { once: true });
        },
      });
      return new Response(ticks, { headers: { 'content-type': 'text/event-stream' } });
    });
  });
  const leaving = new AbortController();
  await fetch(`${url}/ticks`, { signal: leaving.signal });
  leaving.abort();
  await until(() => signals[0]?.aborted === true);
  const staying = await fetch(`${url}/ticks`);
  const read = staying.text();
  await host?.close();
  expect(await read).toBe(': open\n\n');
  expect(signals[1]?.reason).toMatchObject({ code: 'HOST_CLOSING' });
});

test('headers are typed, and what a schema gives as a default is there when it was left out', async () => {
  const size = Type.Object({
    width: Type.Integer({ default: 3 }),
    unit: Type.Optional(Type.String()),
  });
  const url = await serve((api) => {
    api.post(
      '/boxes',
      {
        query: Type.Object({ limit: Type.Integer({ default: 20, maximum: 100 }) }),
        headers: Type.Object({ 'x-trace': Type.Optional(Type.Integer()) }),
        body: Type.Object({ size, tags: Type.Array(Type.String(), { default: [] }) }),
        bodyBytes: 100,
        response: Type.Any(),
      },
      ({ query, headers, body }) => ({
        limit: query.limit,
        trace: headers['x-trace'] ?? null,
        body,
      }),
    );
    api.get('/nothing', { response: Type.Any() }, () => undefined);
  });
  const headers = { 'x-trace': '7' };
  expect(await ask(`${url}/boxes`, { body: { size: {} }, headers })).toMatchObject({
    status: 200,
    body: { limit: 20, trace: 7, body: { size: { width: 3 }, tags: [] } },
  });
  expect((await ask(`${url}/boxes?limit=5`, { body: { size: {} } })).body).toMatchObject({
    limit: 5,
    trace: null,
  });
  const odd = await ask(`${url}/boxes?limit=101`, {
    body: { size: {} },
    headers: { 'x-trace': 'x' },
  });
  expect(odd.status).toBe(422);
  expect((await ask(`${url}/boxes`, { body: { size: {}, tags: ['x'.repeat(200)] } })).status).toBe(
    413,
  );
  expect((await ask(`${url}/nothing`)).body).toBeNull();
  expect((await operationsOf(url))['/boxes']).toMatchObject({
    post: {
      parameters: [
        { name: 'limit', in: 'query', required: false, schema: { default: 20 } },
        { name: 'x-trace', in: 'header', required: false },
      ],
    },
  });
});

test('the document: its own names, none of them twice; what is old, what is hidden, what is refused', async () => {
  const url = await serve((api) => {
    const refused = { 409: { description: 'Sold out.' }, 422: { description: 'Too many.' } };
    api.get('/run', { response: Type.String(), answers: refused }, () => 'clash with getRun');
    api.get('/a-b', { deprecated: true, response: Type.String() }, () => 'x');
    api.get('/a/b', { response: Type.String() }, () => 'x');
    api.get('/named', { id: 'readTheNamed', response: Type.String() }, () => 'x');
    api.get('/hidden', { hidden: true, response: Type.String() }, () => 'seen');
  });
  const paths = await operationsOf(url);
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path as Record<string, { operationId: string }>).map(
      ({ operationId }) => operationId,
    ),
  );
  expect(ids.length).toBe(new Set(ids).size);
  expect(paths['/run']).toMatchObject({
    get: {
      operationId: 'getRun2',
      responses: {
        409: { description: 'Sold out.', content: { 'application/problem+json': {} } },
        422: { description: 'Too many.' },
      },
    },
  });
  expect(paths['/a-b']).toMatchObject({ get: { operationId: 'getAB', deprecated: true } });
  expect(paths['/a/b']).toMatchObject({ get: { operationId: 'getAB2' } });
  expect(paths['/named']).toMatchObject({ get: { operationId: 'readTheNamed' } });
  expect(paths).not.toHaveProperty(['/hidden']);
  expect((await ask(`${url}/hidden`)).body).toBe('seen');
});

test('an error of a library that has a status keeps it, and tells nothing of its words', async () => {
  const url = await serve((api) => {
    api.get('/gone', { response: Type.Any() }, () => {
      throw Object.assign(new Error('secret words'), { statusCode: 404 });
    });
  });
  const gone = await ask(`${url}/gone`);
  expect(gone).toMatchObject({ status: 404, body: { status: 404, code: 'HTTP_REQUEST_INVALID' } });
  expect(JSON.stringify(gone.body)).not.toContain('secret');
});
