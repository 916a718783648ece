import { afterEach, expect, test } from 'vitest';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

let host: RunningHost | undefined;
afterEach(() => host?.close());

test('the page of the docs loads only what the host serves, and its policy allows nothing else', async () => {
  host = await startHost(fakeGateway(), { authenticate: () => undefined });
  const page = await fetch(`${host.url}/docs`);
  expect(page.headers.get('content-type')).toContain('text/html');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
  const html = await page.text();
  expect(html).not.toMatch(/https?:\/\/|<script>/);
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
  expect(files).toHaveLength(4);
  for (const file of files) {
    const response = await fetch(new URL(file, `${host.url}/docs`));
    expect([file, response.status]).toEqual([file, 200]);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  }
  expect(await (await fetch(`${host.url}/docs/start.js`)).text()).toContain('openapi.json');
});

test('says of itself what its options say', async () => {
  host = await startHost(fakeGateway(), {
    authenticate: () => undefined,
    docs: {
      title: 'The <shop>',
      version: '2.0.0',
      description: 'What it sells.',
      security: { key: { type: 'apiKey', in: 'header', name: 'x-key' } },
    },
  });
  const document: unknown = await (await fetch(`${host.url}/openapi.json`)).json();
  expect(document).toMatchObject({
    info: { title: 'The <shop>', version: '2.0.0', description: 'What it sells.' },
    components: { securitySchemes: { key: { type: 'apiKey' } } },
    paths: { '/runs': { get: { security: [{ key: [] }] } } },
  });
  expect(await (await fetch(`${host.url}/docs`)).text()).toContain('The &lt;shop&gt;');
});

test('a page tells how events work, with the shape of each', async () => {
  host = await startHost(fakeGateway());
  const page = await (await fetch(`${host.url}/docs/events`)).text();
  for (const kind of ['run-started', 'message-delta', 'rewound', 'wait-opened'])
    expect(page).toContain(`id="${kind}"`);
  expect(page).toContain('Last-Event-ID');
  for (const word of ['SocketClientMessage', 'SocketServerMessage', 'hexagent.v1', '1012', '4401'])
    expect(page).toContain(word);
});

test('without docs there are none', async () => {
  host = await startHost(fakeGateway(), { docs: false });
  for (const path of ['/openapi.json', '/docs', '/docs/events', '/docs/start.js'])
    expect((await fetch(`${host.url}${path}`)).status).toBe(404);
});
