import {
  bind,
  bootstrap,
  defineAgent,
  definePort,
  type JsonObject,
  type Port,
  type Principal,
} from '@hexagent/agent-core';
import { scriptedModel } from '@hexagent/agent-core/testing';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import { HttpProblem, HttpServer, httpHost, type Routes } from '../src/index.ts';
import { ask, problemIn } from './client.ts';
import { until } from './sse-client.ts';

type Customer = { readonly id: number; readonly name: string; readonly note?: string };
interface Customers {
  find(id: number): Promise<Customer | undefined>;
}
const Customers: Port<Customers> = definePort<Customers>('customers');
const Tags: Port<string, 'many'> = definePort<string>('tags', { arity: 'many' });

const CustomerSchema = Type.Object(
  { id: Type.Integer(), name: Type.String(), note: Type.Optional(Type.String()) },
  { title: 'Customer', additionalProperties: false },
);

let app: Awaited<ReturnType<typeof bootstrap>> | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const known: Principal = {
  scope: { tenantId: 't', userId: 'ann' },
  subject: 'ann',
  roles: [],
  permissions: [],
};

const customers: Customers = {
  find: async (id) => (id === 7 ? { id, name: 'Grete' } : undefined),
};
const PROVIDED = [bind(Customers, customers), bind(Tags, 'one'), bind(Tags, 'two')];

async function serve(routes: Routes, provide = PROVIDED): Promise<string> {
  app = await bootstrap({
    plugins: [
      scriptedModel([]),
      httpHost({
        port: 0,
        logLevel: 'silent',
        routes,
        authenticate: ({ headers }) => (headers.get('x-user') === 'ann' ? known : undefined),
      }),
    ],
    provide,
    agents: [defineAgent({ name: 'hello' })],
  });
  return app.all(HttpServer)[0]?.url ?? '';
}

const ANN = { 'x-user': 'ann' };

const shop: Routes = (api) => {
  api.get(
    '/customers/:id',
    {
      summary: 'One customer',
      params: Type.Object({ id: Type.Integer() }),
      query: Type.Object({
        deep: Type.Optional(Type.Boolean()),
        tag: Type.Optional(Type.Array(Type.String())),
      }),
      response: CustomerSchema,
      needs: { customers: Customers, tags: Tags },
    },
    async ({ params, query, deps, principal }) => {
      const customer = await deps.customers.find(params.id);
      if (customer === undefined)
        throw new HttpProblem(404, {
          code: 'CUSTOMER_UNKNOWN',
          detail: `There is no customer ${params.id}.`,
          mend: 'Check the number.',
        });
      const note = [principal.subject, query.deep, query.tag, deps.tags].map(String).join(' ');
      return { ...customer, note };
    },
  );
  api.post(
    '/customers',
    {
      body: Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      response: Type.Object({ id: Type.Integer() }),
      status: 201,
    },
    ({ body }) => ({ id: body.name.length }),
  );
  api.delete('/customers/:id', { params: Type.Object({ id: Type.Integer() }) }, () => undefined);
  api.get(
    '/public',
    { response: Type.Object({ who: Type.String() }), access: 'public' },
    ({ principal }) => ({ who: String(principal) }),
  );
};

test('a route is typed by its schemas, and given its ports and who asks', async () => {
  const url = await serve(shop);
  const found = await ask(`${url}/customers/7?deep=true&tag=a&tag=b`, { headers: ANN });
  expect(found).toMatchObject({
    status: 200,
    body: { id: 7, name: 'Grete', note: 'ann true a,b one,two' },
  });
  const created = await ask(`${url}/customers`, { body: { name: 'Otto' }, headers: ANN });
  expect(created).toMatchObject({ status: 201, body: { id: 4 } });
  expect(await ask(`${url}/customers/7`, { method: 'DELETE', headers: ANN })).toMatchObject({
    status: 204,
    body: undefined,
  });
});

test('what does not fit, who is not known and what the application refuses are answered like everywhere', async () => {
  const url = await serve(shop);
  const unfit = await ask(`${url}/customers/x`, { headers: ANN });
  expect(unfit).toMatchObject({ status: 422, body: { code: 'INPUT_INVALID' } });
  expect(problemIn(unfit).problems).toMatchObject([{ at: 'path.id' }]);
  expect((await ask(`${url}/customers/7`)).status).toBe(401);
  expect(await ask(`${url}/public`)).toMatchObject({ status: 200, body: { who: 'undefined' } });
  const unknown = await ask(`${url}/customers/8`, { headers: ANN });
  expect(unknown.headers.get('content-type')).toBe('application/problem+json');
  expect(unknown).toMatchObject({
    status: 404,
    body: {
      type: 'urn:hexagent:error:CUSTOMER_UNKNOWN',
      title: 'Customer unknown',
      code: 'CUSTOMER_UNKNOWN',
      detail: 'There is no customer 8.',
      mend: 'Check the number.',
    },
  });
  expect((await ask(`${url}/customers/7`, { method: 'PUT', headers: ANN })).status).toBe(405);
});

test('an answer that is not what the route says is not sent; nothing that it says is left out', async () => {
  const url = await serve((api) => {
    const leaky: Customer & { readonly passwordHash: string } = {
      id: 1,
      name: 'x',
      passwordHash: 'secret',
    };
    api.get('/leaky', { response: CustomerSchema, access: 'public' }, () => leaky);
    const wide = Type.Object({ id: Type.Integer() });
    const more = { id: 1, extra: 'kept' };
    api.get('/wide', { response: wide, access: 'public' }, () => more);
  });
  const leaky = await ask(`${url}/leaky`);
  expect(leaky).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
  expect(JSON.stringify(leaky.body)).not.toContain('passwordHash');
  expect((await ask(`${url}/wide`)).body).toEqual({ id: 1, extra: 'kept' });
});

test('stands in the document beside the routes of the agents', async () => {
  const url = await serve(shop);
  const { body } = await ask(`${url}/openapi.json`);
  const { paths, components, tags } = body as {
    readonly paths: Readonly<Record<string, JsonObject>>;
    readonly components: { readonly schemas: JsonObject };
    readonly tags: readonly JsonObject[];
  };
  expect(paths['/customers/{id}']).toMatchObject({
    get: {
      operationId: 'getCustomersId',
      summary: 'One customer',
      tags: ['application'],
      security: [{ bearer: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'deep', in: 'query', required: false, schema: { type: 'boolean' } },
        { name: 'tag', in: 'query', required: false },
      ],
      responses: {
        200: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Customer' } } },
        },
      },
    },
    delete: { responses: { 204: { description: 'It is done.' } } },
  });
  expect(paths['/customers']).toMatchObject({ post: { responses: { 201: {} } } });
  expect(paths['/public']).toMatchObject({ get: { security: [] } });
  expect(components.schemas).toHaveProperty('Customer.properties.name');
  expect(tags[0]).toMatchObject({ name: 'application' });
});

test('bootstrap says which port of a route nobody provides', async () => {
  await expect(serve(shop, [])).rejects.toMatchObject({ code: 'BOOTSTRAP_INVALID' });
  await expect(serve(shop, [])).rejects.toThrow(/requires "customers", which nothing contributes/);
});

test('two routes at one address, one at the host’s, and what is no path are refused together', async () => {
  const nothing = () => undefined;
  const clash = serve((api) => {
    api.get('/a/:x', {}, nothing);
    api.get('/a/:y', {}, nothing);
    api.post('/a/:y', {}, nothing);
    api.get('/runs/:id', {}, nothing);
    api.get('/docs/mine', {}, nothing);
    api.get('no-path', {}, nothing);
    api.get('/wild/*', {}, nothing);
  });
  const message = await clash.then(String, (error: Error) => error.message);
  expect(message).toContain('5 problems');
  expect(message).toContain('routes GET "/a/:y": is taken by routes GET "/a/:x".');
  expect(message).toContain('routes GET "/runs/:id": is taken by the host.');
  expect(message).toContain('routes GET "/docs/mine": is taken by the host.');
  expect(message).toContain('routes GET "no-path": is not a path.');
  expect(message).toContain('routes GET "/wild/*": is not a path.');
});

test('its signal is aborted when the client leaves, also where anybody may ask', async () => {
  let signal: AbortSignal | undefined;
  const url = await serve((api) => {
    api.get('/slow', { access: 'public' }, (request) => {
      ({ signal } = request);
      return new Promise((resolve) => {
        signal?.addEventListener('abort', resolve, { once: true });
      });
    });
  });
  const leaving = new AbortController();
  const left = fetch(`${url}/slow`, { signal: leaving.signal });
  await until(() => signal !== undefined);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await until(() => signal?.aborted === true);
});

test('a problem of the application has the status of an error', () => {
  const words = { code: 'X', detail: 'x', mend: 'y' };
  for (const status of [200, 399, 600, 404.5])
    expect(() => new HttpProblem(status, words)).toThrow(RangeError);
});
