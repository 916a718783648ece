import { AgentError } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

let gateway: FakeGateway;
let host: RunningHost;

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway, { authenticate: () => undefined });
});
afterEach(() => host.close());

test('health needs nobody and asks nothing', async () => {
  expect(await ask(`${host.url}/healthz`)).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(gateway.entered).toEqual([]);
});

test('readiness asks the store, for nobody, and answers as it does', async () => {
  expect(await ask(`${host.url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(gateway.entered).toEqual([{ door: 'list', args: [{ limit: 1 }] }]);
  expect(gateway.lastCaller()?.principal.scope).toEqual({
    tenantId: 'hexagent.readiness',
    userId: 'nobody',
  });
  gateway.fail(
    'list',
    new AgentError('STORE_UNREACHABLE', { message: 'Away.', mend: 'Wait.', retryable: true }),
  );
  expect(await ask(`${host.url}/readyz`)).toMatchObject({
    status: 503,
    body: { code: 'STORE_UNREACHABLE' },
  });
});

test('an application without a store is ready', async () => {
  gateway.fail('list', new AgentError('RUN_NOT_DURABLE', { message: 'None.', mend: 'Add one.' }));
  expect((await ask(`${host.url}/readyz`)).status).toBe(200);
});

test('a store that does not answer is not waited for long', async () => {
  await host.close();
  host = await startHost({ ...gateway, list: () => new Promise(() => undefined) });
  const silent = await ask(`${host.url}/readyz`);
  expect(silent).toMatchObject({ status: 503, body: { code: 'STORE_UNREACHABLE' } });
});
