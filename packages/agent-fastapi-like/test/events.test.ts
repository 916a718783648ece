import { connect } from 'node:net';
import { AgentError, type AgentEvent, type Envelope } from '@hexagent/agent-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, fakeGateway } from './fake-gateway.ts';
import { type RunningHost, startHost } from './fake-setup.ts';
import { eventsOf, type Frame, frames, until } from './sse-client.ts';

const delta = (text: string): AgentEvent => ({
  type: 'message-delta',
  messageId: 'm',
  delta: text,
});
const finished: AgentEvent = {
  type: 'run-finished',
  outcome: { kind: 'completed', text: 'done' },
  usage: {},
  summary: { text: 'done', toolCalls: [], evidenceCount: 0 },
};
const paused: AgentEvent = {
  type: 'run-paused',
  waits: [],
  usage: {},
  summary: { text: '', toolCalls: [], evidenceCount: 0 },
};

let gateway: FakeGateway;
let host: RunningHost;

const start = (query = '', headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${host.url}/agents/echo/runs${query}`, {
    method: 'POST',
    body: '{"message":"x"}',
    headers: { 'content-type': 'application/json', prefer: 'respond-async', ...headers },
  });
const watch = (query = '', init: RequestInit = {}): Promise<Response> =>
  fetch(`${host.url}/runs/r1/events${query}`, init);
const typeOf = ({ data }: Frame): string => (JSON.parse(data ?? '') as Envelope).event.type;

beforeEach(async () => {
  gateway = fakeGateway();
  host = await startHost(gateway);
});
afterEach(() => host.close());

test('one frame an event, its number as id, and the end of the stream at the end of the run', async () => {
  await start();
  const response = await Promise.resolve().then(() => {
    gateway.emit('r1', { type: 'run-started' }, delta('a\nb'));
    return watch();
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).toContain('no-cache');
  const stream = frames(response);
  expect((await stream.next()).value).toEqual({ comment: 'open' });
  const first = (await stream.next()).value;
  expect(first).toMatchObject({ id: '1' });
  expect(JSON.parse(first?.data ?? '')).toEqual({
    rootRunId: 'r1',
    runId: 'r1',
    agent: 'echo',
    seq: 1,
    at: 0,
    event: { type: 'run-started' },
  });
  expect((await stream.next()).value).toMatchObject({ id: '2' });
  gateway.emit('r1', finished);
  expect(typeOf((await stream.next()).value ?? {})).toBe('run-finished');
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('ends at a pause, and goes on after it from the number that the client names', async () => {
  await start();
  gateway.emit('r1', { type: 'run-started' }, paused);
  expect((await eventsOf(await watch())).map(typeOf)).toEqual(['run-started', 'run-paused']);
  gateway.emit('r1', { type: 'run-resumed', deliveries: 1 }, finished);
  expect((await eventsOf(await watch('?after=2'))).map(({ id }) => id)).toEqual(['3', '4']);
  const again = await watch('?after=0', { headers: { 'last-event-id': '3' } });
  expect((await eventsOf(again)).map(({ id }) => id)).toEqual(['4']);
});

test('nothing more to come is 204, so that an EventSource stays away', async () => {
  await start();
  gateway.emit('r1', finished);
  expect((await watch('?after=1')).status).toBe(204);
});

test('what fails before the first event has a status; a bad cursor is refused', async () => {
  await start();
  gateway.fail('watch', new AgentError('STORE_UNREACHABLE', { message: 'Away.', mend: 'Wait.' }));
  expect((await watch('?after=1')).status).toBe(503);
  expect((await watch('?after=-1')).status).toBe(422);
  expect((await watch('', { headers: { 'last-event-id': 'x' } })).status).toBe(422);
  const missing = await fetch(`${host.url}/runs/r9/events`);
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ code: 'RUN_NOT_FOUND' });
});

test('starts and streams at once, by ?stream=sse or by Accept', async () => {
  for (const [query, accept, runId] of [
    ['?stream=sse', '*/*', 'r1'],
    ['', 'text/event-stream', 'r2'],
  ] as const) {
    const response = await start(query, { accept });
    expect(response.headers.get('location')).toBe(`/runs/${runId}`);
    gateway.emit(runId, { type: 'run-started' }, delta('hi'), finished);
    expect((await eventsOf(response)).map(typeOf)).toEqual([
      'run-started',
      'message-delta',
      'run-finished',
    ]);
  }
  expect((await start('?stream=ws')).status).toBe(422);
});

test('a quiet stream gets its headers at once and a comment now and then', async () => {
  await host.close();
  host = await startHost(gateway, { limits: { heartbeatMs: 5 } });
  await start();
  const stream = frames(await watch());
  expect((await stream.next()).value).toEqual({ comment: 'open' });
  expect((await stream.next()).value).toEqual({ comment: 'still here' });
  gateway.emit('r1', finished);
  for await (const frame of stream)
    if (frame.comment === undefined) expect(typeOf(frame)).toBe('run-finished');
});

test('a client that leaves ends its watch, and a hundred of them leave nothing behind', async () => {
  await start();
  gateway.emit('r1', { type: 'run-started' });
  for (let round = 0; round < 100; round += 1) {
    const leaving = new AbortController();
    const response = await watch('', { signal: leaving.signal });
    const stream = frames(response);
    await stream.next();
    leaving.abort();
    await stream.return(undefined);
  }
  await until(() => gateway.watching() === 0);
});

test('a client that leaves before the first event does as well', async () => {
  await start();
  const leaving = new AbortController();
  const answer = watch('', { signal: leaving.signal });
  await until(() => gateway.watching() === 1);
  leaving.abort();
  await expect(answer).rejects.toThrow();
  await until(() => gateway.watching() === 0);
});

test('a client that does not read holds its own stream back, not the run; when it leaves, all is freed', async () => {
  await start();
  const url = new URL(host.url);
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  socket.write('GET /runs/r1/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => gateway.watching() === 1);
  const large = delta('x'.repeat(200_000));
  for (let count = 0; count < 100; count += 1) gateway.emit('r1', large);
  const other = frames(await watch('?after=99'));
  expect((await other.next()).value).toEqual({ comment: 'open' });
  expect((await other.next()).value?.id).toBe('100');
  await other.return(undefined);
  socket.destroy();
  await until(() => gateway.watching() === 0);
});

test('closing the host ends its streams, cleanly', async () => {
  await start();
  gateway.emit('r1', { type: 'run-started' });
  const stream = frames(await watch());
  await stream.next();
  await stream.next();
  await host.close();
  for await (const { comment, ...rest } of stream) {
    expect(comment).toMatch(/./);
    expect(rest).toEqual({});
  }
  expect(gateway.watching()).toBe(0);
});

test('a cursor whose events are gone gets the run as it is now, and goes on behind it', async () => {
  await start();
  gateway.emit('r1', { type: 'run-started' }, delta('gone'));
  gateway.fail('watch', new AgentError('EVENTS_PRUNED', { message: 'Gone.', mend: 'Read it.' }));
  const response = await watch('?after=0');
  expect(response.status).toBe(200);
  const stream = frames(response);
  expect((await stream.next()).value).toEqual({ comment: 'open' });
  const first = (await stream.next()).value;
  expect(first).toMatchObject({ event: 'snapshot', id: '2' });
  expect(JSON.parse(first?.data ?? '')).toMatchObject({ run: { runId: 'r1' }, lastSeq: 2 });
  gateway.emit('r1', finished);
  expect((await stream.next()).value).toMatchObject({ id: '3' });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('a snapshot can be asked for, too', async () => {
  await start();
  gateway.emit('r1', { type: 'run-started' });
  const response = await fetch(`${host.url}/runs/r1/snapshot`);
  expect(await response.json()).toMatchObject({ run: { runId: 'r1' }, lastSeq: 1 });
});
