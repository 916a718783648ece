import { EVENT_CLASSES } from '@hexagent/agent-core';
import fastify from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { agentRoutes } from '../src/index.ts';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';

let host: RunningHost | undefined;
afterEach(() => host?.close());

/** Every address that a page names, as the browser takes it. */
async function linksOf(address: string): Promise<readonly URL[]> {
  const html = await (await fetch(address)).text();
  const named = [...html.matchAll(/(?:src|href)="([^"#]+)[^"]*"/g)].map(([, link]) => link ?? '');
  return [...new Set(named)].map((link) => new URL(link, address));
}

test('the pages load only what the host serves, and their policy allows nothing else', async () => {
  host = await startHost(fakeGateway(), { authenticate: () => undefined });
  for (const path of ['/docs', '/docs/events']) {
    const page = await fetch(`${host.url}${path}`);
    expect(page.headers.get('content-type')).toContain('text/html');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(await page.text()).not.toMatch(/https?:\/\/|<script>|<style/);
    const links = await linksOf(page.url);
    expect(links.map(({ pathname }) => pathname)).toEqual(
      expect.arrayContaining(['/docs', '/docs/events', '/openapi.json', '/docs/icon.svg']),
    );
    for (const link of links) {
      const response = await fetch(link);
      expect([link.href, response.status]).toEqual([link.href, 200]);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  }
  expect(await (await fetch(`${host.url}/docs/start.js`)).text()).toContain('openapi.json');
});

test('a slash at the end leads to the page, below a prefix, too', async () => {
  host = await startHost(fakeGateway());
  for (const path of ['/docs', '/docs/events']) {
    const led = await fetch(`${host.url}${path}/`);
    expect([led.status, led.redirected, led.url]).toEqual([200, true, `${host.url}${path}`]);
    expect((await fetch(`${host.url}${path}/`, { method: 'POST' })).status).toBe(405);
  }

  for (const ignoreTrailingSlash of [false, true])
    for (const prefix of ['/ai', '/']) {
      const app = fastify({ routerOptions: { ignoreTrailingSlash } });
      await app.register(agentRoutes, {
        prefix,
        runtime: fakeGateway(),
        authenticate: () => undefined,
      });
      const url = await app.listen({ port: 0 });
      const base = prefix === '/' ? url : `${url}${prefix}`;
      for (const path of ['/docs', '/docs/events']) {
        const led = await fetch(`${base}${path}/`);
        expect([led.status, led.url]).toEqual([200, `${base}${path}`]);
      }
      await app.close();
    }
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
  for (const path of ['/docs', '/docs/events'])
    expect(await (await fetch(`${host.url}${path}`)).text()).toContain('The &lt;shop&gt;</title>');
});

test('a page tells how events work, each with its class and an example', async () => {
  host = await startHost(fakeGateway());
  const page = await (await fetch(`${host.url}/docs/events`)).text();
  for (const [kind, its] of Object.entries(EVENT_CLASSES)) {
    const [, row = ''] = page.split(`<tr id="${kind}">`);
    const [own = ''] = row.split('</tr>');
    expect([kind, own]).toEqual([kind, expect.stringContaining(`class="class ${its}"`)]);
    expect([kind, own]).toEqual([kind, expect.stringContaining(`&quot;type&quot;: &quot;${kind}`)]);
    expect([kind, own]).toEqual([kind, expect.stringMatching(/<td class="when">[A-Z]/)]);
  }
  expect(page).toContain('Last-Event-ID');
  for (const type of ['SocketClientMessage-start', 'SocketServerMessage-rest'])
    expect(page).toContain(`<tr id="${type}">`);
  for (const word of ['hexagent.v1', '1012', '4401']) expect(page).toContain(word);
  expect(page).not.toContain('undefined');
});

test('the page of the events tells each shape once, folded, and every link on it has its place', async () => {
  host = await startHost(fakeGateway());
  const page = await (await fetch(`${host.url}/docs/events`)).text();
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  for (const shape of ['Envelope', 'Wait', 'Snapshot', 'Run'])
    expect(page).toContain(`<details class="shape" id="${shape}">`);
  // What a socket takes in place of a body is told on the page of the routes.
  expect(page).toContain('href="../docs#/agents/startRun"');
  expect(page).not.toContain('clientTools');
  expect(page.length).toBeLessThan(60_000);
});

test('without docs there are none', async () => {
  host = await startHost(fakeGateway(), { docs: false });
  for (const path of ['/openapi.json', '/docs', '/docs/events', '/docs/start.js'])
    expect((await fetch(`${host.url}${path}`)).status).toBe(404);
});
