import type { Principal } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import type { HttpHostOptions } from '../src/index.ts';
import { LOG_SERIALIZERS } from '../src/problems/log-line.ts';
import { ask } from './client.ts';
import { fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { connect, typed } from './socket-client.ts';

const principal: Principal = { scope: { tenantId: 't' }, subject: 's', roles: [], permissions: [] };

let host: RunningHost | undefined;
let urls: string[] = [];
let addresses: string[] = [];
afterEach(() => host?.close());

async function serve(options: Partial<HttpHostOptions> = {}): Promise<string> {
  urls = [];
  addresses = [];
  host = await startHost(fakeGateway(), {
    limits: { requests: 2 },
    authenticate: ({ url, headers }, incoming) => {
      urls.push(new URL(url).origin);
      // What a line of the log says of a request.
      addresses.push(LOG_SERIALIZERS.req(incoming).from ?? '');
      return headers.has('authorization') ? principal : undefined;
    },
    ...options,
  });
  return host.url;
}
const from = (address: string) => ({
  'x-forwarded-for': address,
  'x-forwarded-host': 'agents.example',
  'x-forwarded-proto': 'https',
});
const statusesOf = async (url: string, senders: readonly string[]): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (const sender of senders)
    statuses.push((await ask(`${url}/runs`, { headers: from(sender) })).status);
  return statuses;
};

test('nobody is believed about where a request comes from unless it is said: guesses of one address are one caller', async () => {
  const url = await serve();
  expect(await statusesOf(url, ['1.1.1.1', '2.2.2.2', '3.3.3.3'])).toEqual([401, 401, 429]);
  expect(new Set(addresses)).toEqual(new Set(['127.0.0.1']));
  expect(new Set(urls)).toEqual(new Set([url]));
});

test.each([
  ['everybody', true],
  ['a word for a range', 'loopback'],
  ['a list', ['10.0.0.0/8', '127.0.0.1']],
  ['a function', (address: string, hop: number) => address === '127.0.0.1' && hop === 0],
] as const)(
  'behind a proxy that is trusted each address counts for itself: %s',
  async (_name, trustProxy) => {
    const url = await serve({ trustProxy });
    expect(await statusesOf(url, ['1.1.1.1', '1.1.1.1', '2.2.2.2', '1.1.1.1'])).toEqual([
      401, 401, 401, 429,
    ]);
    expect(new Set(addresses)).toEqual(new Set(['1.1.1.1', '2.2.2.2']));
    expect(new Set(urls)).toEqual(new Set(['https://agents.example']));
  },
);

test('whoever is not among the trusted names its own address only, and what is in front of a proxy does not count', async () => {
  const other = await serve({ trustProxy: '10.0.0.0/8' });
  expect(await statusesOf(other, ['1.1.1.1', '2.2.2.2', '3.3.3.3'])).toEqual([401, 401, 429]);
  await host?.close();
  const url = await serve({ trustProxy: 'loopback' });
  // A caller may write what it likes; the proxy has appended whom it saw.
  expect(await statusesOf(url, ['6.6.6.6, 1.1.1.1', '7.7.7.7, 1.1.1.1', '1.1.1.1'])).toEqual([
    401, 401, 429,
  ]);
});

test('a page under the name that the proxy is asked for may open a socket', async () => {
  const url = await serve({ trustProxy: 'loopback' });
  const headers = { ...from('1.1.1.1'), authorization: 'x', origin: 'https://agents.example' };
  const client = await connect(url, undefined, { headers });
  await client.next(typed('ready'));
  client.socket.terminate();
  await host?.close();
  const closed = await serve();
  await expect(connect(closed, undefined, { headers })).rejects.toThrow('403');
});

test.each([
  ['a number of hops', 1, /is a number of hops/],
  ['no address', 'proxy.example', /cannot be used: .*invalid IP address/],
  ['no range', ['10.0.0.0/99'], /cannot be used: .*invalid range/],
  ['no list', { from: 'x' }, /cannot be used/],
])('%s is refused before anything is served', async (_name, trustProxy, words) => {
  const options = { trustProxy } as unknown as Partial<HttpHostOptions>;
  await expect(startHost(fakeGateway(), options)).rejects.toMatchObject({
    code: 'BOOTSTRAP_INVALID',
    message: expect.stringMatching(words),
  });
});
