import { afterEach, expect, test } from 'vitest';
import type { HttpHostOptions } from '../src/index.ts';
import { ask } from './client.ts';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { until } from './sse-client.ts';

let gateway: FakeGateway;
let host: RunningHost | undefined;
afterEach(() => host?.close());

async function serve(options: Partial<HttpHostOptions> = {}): Promise<string> {
  gateway = fakeGateway();
  host = await startHost(gateway, options);
  return host.url;
}

/** Starts a run, and leaves when the run is begun; resolves when the host has seen it. */
async function startAndLeave(url: string, path: string, stream: boolean): Promise<void> {
  const leaving = new AbortController();
  const begun = gateway.inputs.length;
  const answer = fetch(`${url}${path}`, {
    method: 'POST',
    body: '{"message":"x"}',
    headers: {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
    },
    signal: leaving.signal,
  });
  if (stream) await answer;
  await until(() => gateway.inputs.length > begun);
  leaving.abort();
  await answer.then((response) => response.text()).catch(() => undefined);
  // One request is open: the one that asks.
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    if (/kind="stream"\} 0/.test(metrics) && /kind="request"\} [01]$/m.test(metrics)) return;
  }
}

const cancels = () => gateway.entered.filter(({ door }) => door === 'cancel');

test.each([true, false])(
  'a start may say that its durable run ends with its client (as a stream: %s)',
  async (stream) => {
    const url = await serve();
    await startAndLeave(url, '/agents/echo/runs?onDisconnect=cancel', stream);
    await until(() => cancels().length > 0);
    expect(cancels()).toEqual([{ door: 'cancel', args: ['r1', 'The client has left.'] }]);
  },
);

test('a durable run goes on when nothing is said, and the host may say otherwise for all', async () => {
  const url = await serve();
  await startAndLeave(url, '/agents/echo/runs', true);
  expect(cancels()).toEqual([]);
  await host?.close();
  const other = await serve({ onDisconnect: 'cancel' });
  await startAndLeave(other, '/agents/echo/runs?onDisconnect=detach', true);
  expect(cancels()).toEqual([]);
  await startAndLeave(other, '/agents/echo/runs', true);
  await until(() => cancels().length > 0);
  expect(cancels().map(({ args }) => args[0])).toEqual(['r2']);
});

test('a stateless run ends with its client, unless it was detached', async () => {
  const url = await serve();
  const starts: (AbortSignal | undefined)[] = [];
  const { start } = gateway;
  await host?.close();
  host = await startHost({
    ...gateway,
    start: (agent, input, caller) => {
      starts.push(caller.signal);
      return start(agent, input, caller);
    },
  });
  expect(host.url).not.toBe(url);
  await startAndLeave(host.url, '/agents/fleeting/runs', true);
  await until(() => starts[0]?.aborted === true);
  await startAndLeave(host.url, '/agents/fleeting/runs?onDisconnect=detach', true);
  expect(starts[1]?.aborted).toBe(false);
});

test('who watches a run of somebody else leaves without harm; an odd word is refused', async () => {
  const url = await serve({ onDisconnect: 'cancel' });
  const path = '/agents/echo/runs';
  const headers = { prefer: 'respond-async' };
  await ask(`${url}${path}`, { body: { message: 'x' }, headers });
  const leaving = new AbortController();
  const reader = fetch(`${url}/runs/r1/events`, { signal: leaving.signal });
  await until(() => gateway.watching() === 1);
  leaving.abort();
  await reader.catch(() => undefined);
  await until(() => gateway.watching() === 0);
  expect(cancels()).toEqual([]);
  const odd = await ask(`${url}${path}?onDisconnect=explode`, { body: { message: 'x' } });
  expect(odd).toMatchObject({ status: 422, body: { code: 'INPUT_INVALID' } });
});
