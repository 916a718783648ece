import { execFileSync } from 'node:child_process';
import type { Envelope } from '@hexagent/agent-core';
import { afterEach, expect, test } from 'vitest';
import { type CountingProcess, countingProcess } from '../src/counting-process.ts';
import { type Crowd, crowd } from '../src/crowd.ts';
import { eventsOf, watch } from '../src/event-reader.ts';

const MEGABYTE = 1_024 * 1_024;
let service: CountingProcess | undefined;
const crowds: Crowd[] = [];

const come = async (...args: Parameters<typeof crowd>): Promise<Crowd> => {
  const came = await crowd(...args);
  crowds.push(came);
  return came;
};
const leave = async (): Promise<void> => {
  for (const one of crowds.splice(0)) await one.leave();
};
afterEach(async () => {
  await leave();
  await service?.kill();
});

/** Looks until it is so: what another process does is not told here. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Connections that `fetch` keeps for later. */
const KEPT = 8;

/** Nothing of the crowd is left in the service: no socket, and no memory to speak of. */
async function expectNothingLeft(
  { measure }: CountingProcess,
  before: Awaited<ReturnType<CountingProcess['measure']>>,
): Promise<void> {
  await until(async () => (await measure()).sockets <= before.sockets + KEPT);
  const after = await measure();
  expect(after.uncaught).toEqual([]);
  expect(after.timers).toBeLessThanOrEqual(before.timers + KEPT);
  expect(after.heap - before.heap).toBeLessThan(12 * MEGABYTE);
}

test('ten thousand sockets that ask nothing keep nobody from being answered, and leave nothing behind', {
  timeout: 180_000,
}, async () => {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 65_536;
  const count = Math.min(10_000, limit - 1_000);
  service = await countingProcess({ tokens: true });
  const { url, port, measure } = service;
  await come({ port, count: 500, reads: true });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await leave();
  await until(async () => (await measure()).sockets < 100);
  const before = await measure();
  const idle = await come({ port, count, reads: true });
  const { connected } = await idle.count();
  console.log(`${connected} idle sockets of ${count} (ulimit -n ${limit})`);
  expect(connected).toBeGreaterThan(count * 0.9);
  for (const path of ['/healthz', '/readyz', '/metrics', '/runs'])
    expect([200, 401]).toContain((await fetch(`${url}${path}`)).status);
  const started = await fetch(`${url}/agents/teller/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer t1' },
    body: '{"message":"count"}',
  });
  expect(started.status).toBe(200);
  await leave();
  await expectNothingLeft(service, before);
});

test('heads and bodies that come a byte at a time are given up, and others are served meanwhile', {
  timeout: 180_000,
}, async () => {
  service = await countingProcess({ host: { limits: { requestMs: 1_000 } } });
  const { url, port } = service;
  await fetch(`${url}/healthz`);
  const before = await service.measure();
  const post =
    'POST /agents/teller/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
  const dribbles = { text: ' ', everyMs: 100 };
  const heads = await come({ port, count: 100, reads: true, says: `${post}x-slow: `, dribbles });
  const bodies = await come({
    port,
    count: 100,
    reads: true,
    says: `${post}content-length: 100000\r\n\r\n{`,
    dribbles,
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  for (const slow of [heads, bodies]) {
    await until(async () => (await slow.count()).connected === 0);
    const { heard } = await slow.count();
    expect(Object.keys(heard).every((line) => line.startsWith('HTTP/1.1 408'))).toBe(true);
  }
  await leave();
  await expectNothingLeft(service, before);
});

test('readers that stop reading cost a bounded amount, and neither the run nor another reader waits for them', {
  timeout: 180_000,
}, async () => {
  const speech = { deltas: 2_000, paceMs: 1, characters: 12_000 };
  const readers = 40;
  service = await countingProcess({ speech });
  const { url, port, measure } = service;
  const started = await fetch(`${url}/agents/teller/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: '{"message":"count"}',
  });
  const { run } = (await started.json()) as { readonly run: { readonly runId: string } };
  const stalled = await come({
    port,
    count: readers,
    reads: false,
    says: `GET /runs/${run.runId}/events HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  });
  await until(async () => (await openStreams(url)) === readers);
  const seen: Envelope[] = [];
  for await (const envelope of eventsOf(await watch(url, run.runId))) seen.push(envelope);
  expect(seen.at(-1)?.event.type).toBe('run-finished');
  const deltas = seen.filter(({ event }) => event.type === 'message-delta');
  expect(deltas).toHaveLength(speech.deltas);
  expect((await stalled.count()).connected).toBe(readers);
  // What the kernel takes for them is full when nothing more is sent.
  let sent = -1;
  await until(async () => {
    const before = sent;
    sent = await eventsSent(url);
    return sent === before;
  });
  const { buffered, heap } = await measure();
  console.log(
    `${Math.round(buffered / readers / 1_024)} KB in sockets for a stalled reader, ${Math.round(heap / MEGABYTE)} MB of heap in all`,
  );
  // Twenty-four megabytes of events are there for each of them, 960 in all; the run itself is kept a few times.
  expect(sent).toBeLessThan(readers * speech.deltas);
  expect(buffered / readers).toBeGreaterThan(1_024);
  expect(buffered / readers).toBeLessThan(64 * 1_024);
  expect(heap).toBeLessThan(300 * MEGABYTE);
  await leave();
  await until(async () => (await openStreams(url)) === 0);
  expect((await measure()).buffered).toBeLessThan(64 * 1_024);
});

test('readers that close their half of the connection, and those that vanish, are let go', {
  timeout: 180_000,
}, async () => {
  const speech = { deltas: 100_000, paceMs: 50 };
  service = await countingProcess({ speech });
  const { url, port } = service;
  const started = await fetch(`${url}/agents/teller/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: '{"message":"count"}',
  });
  const { run } = (await started.json()) as { readonly run: { readonly runId: string } };
  const says = `GET /runs/${run.runId}/events HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  await come({ port, count: 100, reads: true, says });
  await until(async () => (await openStreams(url)) === 100);
  await come({ port, count: 100, reads: true, says, halfCloses: true });
  await until(async () => (await openStreams(url)) === 100);
  await leave();
  await until(async () => (await openStreams(url)) === 0);
  expect((await service.measure()).uncaught).toEqual([]);
  expect((await fetch(`${url}/runs/${run.runId}/cancel`, { method: 'POST' })).status).toBe(202);
});

async function openStreams(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^hexagent_http_open\{kind="stream"\} (\d+)/m.exec(text)?.[1]);
}

async function eventsSent(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^hexagent_events_sent_total (\d+)/m.exec(text)?.[1]);
}
