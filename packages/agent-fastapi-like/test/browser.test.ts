import { afterEach, expect, test } from 'vitest';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

let host: RunningHost | undefined;
afterEach(() => host?.close());

const APP = 'https://app.example';
const asPage = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${host?.url}${path}`, { ...init, headers: { origin: APP, ...init.headers } });
const preflight = (origin: string): Promise<Response> =>
  fetch(`${host?.url}/runs`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET' },
  });

test('no page of another origin may read an answer, unless its origin is named', async () => {
  host = await startHost(fakeGateway(), { authenticate: () => undefined });
  expect((await asPage('/healthz')).headers.get('access-control-allow-origin')).toBeNull();
  const refused = await preflight(APP);
  expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  await host.close();

  host = await startHost(fakeGateway(), {
    authenticate: () => undefined,
    cors: { origins: [APP] },
  });
  const allowed = await preflight(APP);
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get('access-control-allow-origin')).toBe(APP);
  expect(allowed.headers.get('access-control-allow-methods')).toContain('DELETE');
  const unknown = await asPage('/runs');
  expect(unknown.status).toBe(401);
  expect(unknown.headers.get('access-control-allow-origin')).toBe(APP);
  expect(unknown.headers.get('access-control-expose-headers')).toContain('x-request-id');
  const other = await preflight('https://evil.example');
  expect(other.headers.get('access-control-allow-origin')).not.toBe('https://evil.example');
});

test('odd origins are refused before anything is served', async () => {
  for (const [cors, word] of [
    [{ origins: ['app.example'] }, 'which is no origin'],
    [{ origins: ['https://app.example/path'] }, 'which is no origin'],
    [{ origins: '*', credentials: true }, 'sends credentials'],
  ] as const)
    await expect(startHost(fakeGateway(), { cors })).rejects.toThrow(word);
  host = await startHost(fakeGateway(), { authenticate: () => undefined, cors: { origins: '*' } });
  expect((await preflight(APP)).headers.get('access-control-allow-origin')).toBe('*');
});

test('every answer has the headers that keep a browser from guessing and framing', async () => {
  host = await startHost(fakeGateway());
  for (const path of ['/agents', '/nowhere', '/openapi.json', '/healthz']) {
    const { headers } = await fetch(`${host.url}${path}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-powered-by')).toBeNull();
  }
});
