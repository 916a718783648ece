import {
  type App,
  bootstrap,
  defineAgent,
  defineTool,
  type Envelope,
  effects,
} from '@hexagent/agent-core';
import { memoryDurability, scriptedModel } from '@hexagent/agent-core/testing';
import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import type { HttpHostOptions } from '../src/index.ts';
import { HttpServer, httpHost } from '../src/index.ts';
import { eventsOf, type Frame, frames, until } from './sse-client.ts';

const written: string[] = [];
const write = defineTool({
  name: 'files.write',
  description: 'Writes a file.',
  input: Type.Object({ path: Type.String() }),
  effects: effects.writeState(),
  execute: ({ path }) => {
    written.push(path);
    return 'written';
  },
});
const scribe = defineAgent({
  name: 'scribe',
  objective: 'Writes files.',
  recovery: 'action-boundary',
  accepts: ['user-message'],
  tools: [write],
});
const hello = defineAgent({ name: 'hello' });
/** Settles for each call whose signal was aborted. */
const waiting: Promise<void>[] = [];
const wait = defineTool({
  name: 'clock.wait',
  description: 'Waits until it is stopped.',
  input: Type.Object({}),
  effects: effects.readOnly(),
  execute: (_input, { signal }) => {
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    waiting.push(stopped);
    return stopped;
  },
});
const patient = defineAgent({ name: 'patient', tools: [wait] });

let app: App | undefined;
afterEach(async () => {
  written.length = 0;
  waiting.length = 0;
  await app?.close();
});

type Steps = Parameters<typeof scriptedModel>[0];

/** The whole application: real bootstrap, gateway, runner, store and sockets; only the model is scripted. */
async function serve(steps: Steps, options: Partial<HttpHostOptions> = {}): Promise<string> {
  app = await bootstrap({
    plugins: [
      scriptedModel(steps),
      memoryDurability(),
      httpHost({ port: 0, logLevel: 'silent', ...options }),
    ],
    agents: [scribe, hello, patient],
  });
  const [server] = app.all(HttpServer);
  return server?.url ?? '';
}

const post = (
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', prefer: 'respond-async', ...headers },
  });
type Body = {
  readonly run: { readonly runId: string };
  readonly items: readonly { readonly id: string; readonly digest: string }[];
  readonly code: string;
};
const jsonOf = async (response: Response): Promise<Body> => (await response.json()) as Body;
const envelopeOf = ({ data }: Frame): Envelope => JSON.parse(data ?? '');
const typesOf = (all: readonly Frame[]): readonly string[] =>
  all.map((frame) => envelopeOf(frame).event.type);

test('start, watch to the pause, approve over HTTP, watch on from the last id to the end: written once', async () => {
  const url = await serve([
    { text: 'I will write it.', calls: [{ name: 'files.write', input: { path: 'a.txt' } }] },
    { text: 'Done.' },
  ]);
  const started = await post(`${url}/agents/scribe/runs`, { message: 'write a.txt' });
  expect(started.status).toBe(202);
  const location = started.headers.get('location');
  const before = await eventsOf(await fetch(`${url}${location}/events`));
  expect(typesOf(before)[0]).toBe('run-started');
  expect(typesOf(before).at(-1)).toBe('run-paused');
  expect(await jsonOf(await fetch(`${url}${location}`))).toMatchObject({ status: 'interrupted' });
  expect(written).toEqual([]);

  const { items } = await jsonOf(await fetch(`${url}/waits?status=pending`));
  const [wait] = items;
  expect(items).toMatchObject([{ kind: 'approval', status: 'pending' }]);
  const answer = await post(`${url}/waits/${wait?.id}`, {
    decision: 'approve',
    digest: wait?.digest,
  });
  expect(answer.status).toBe(204);
  const late = await post(`${url}/waits/${wait?.id}`, { decision: 'reject' });
  expect(late.status).toBe(409);

  const cursor = before.at(-1)?.id ?? '';
  const after = await eventsOf(
    await fetch(`${url}${location}/events`, { headers: { 'last-event-id': cursor } }),
  );
  expect(typesOf(after)).toContain('tool-call-result');
  expect(typesOf(after).at(-1)).toBe('run-finished');
  expect(written).toEqual(['a.txt']);

  const whole = await eventsOf(await fetch(`${url}${location}/events`));
  const ids = whole.map(({ id }) => Number(id));
  expect(ids).toEqual([...ids].sort((left, right) => left - right));
  expect(new Set(ids).size).toBe(ids.length);
  expect(typesOf(whole).filter((type) => type === 'run-finished')).toHaveLength(1);
  expect((await fetch(`${url}${location}/events?after=${ids.at(-1)}`)).status).toBe(204);
  const { items: evidence } = await jsonOf(await fetch(`${url}${location}/evidence`));
  expect(evidence.length).toBeGreaterThan(0);
  expect((await jsonOf(await fetch(`${url}/runs?agent=scribe`))).items).toHaveLength(1);
});

test('one key starts one run', async () => {
  const url = await serve([{ text: 'Hello.' }]);
  const start = () =>
    post(`${url}/agents/scribe/runs`, { message: 'hi' }, { 'idempotency-key': 'k1' });
  const first = await jsonOf(await start());
  expect((await jsonOf(await start())).run.runId).toBe(first.run.runId);
  await eventsOf(await fetch(`${url}/runs/${first.run.runId}/events`));
});

test('a stateless agent answers in its request, whole or as it comes', async () => {
  const url = await serve([{ text: 'Hello.' }, { text: ['Hel', 'lo.'] }]);
  const whole = await post(`${url}/agents/hello/runs`, { message: 'hi' });
  expect(whole.status).toBe(200);
  expect(await whole.json()).toMatchObject({ kind: 'completed', text: 'Hello.' });
  const streamed = await post(`${url}/agents/hello/runs?stream=sse`, { message: 'hi' });
  const all = await eventsOf(streamed);
  const deltas = all
    .map(envelopeOf)
    .flatMap(({ event }) => (event.type === 'message-delta' ? [event.delta] : []));
  expect(deltas.join('')).toBe('Hello.');
  expect(typesOf(all).at(-1)).toBe('run-finished');
});

test('a stateless run ends when its client leaves', async () => {
  const url = await serve([{ calls: [{ name: 'clock.wait', input: {} }] }]);
  const leaving = new AbortController();
  const response = await fetch(`${url}/agents/patient/runs?stream=sse`, {
    method: 'POST',
    body: '{"message":"wait"}',
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  });
  await until(() => waiting.length === 1);
  leaving.abort();
  await expect(response.text()).rejects.toThrow();
  await waiting[0];
});

test('a durable run goes on when its client leaves', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const url = await serve([{ text: ['Hel', 'lo.'], until: gate }]);
  const leaving = new AbortController();
  const response = await fetch(`${url}/agents/scribe/runs?stream=sse`, {
    method: 'POST',
    body: '{"message":"hi"}',
    headers: { 'content-type': 'application/json' },
    signal: leaving.signal,
  });
  const stream = frames(response);
  await stream.next();
  const first = (await stream.next()).value ?? {};
  leaving.abort();
  open();
  const rest = await eventsOf(await fetch(`${url}/runs/${envelopeOf(first).runId}/events`));
  expect(envelopeOf(rest.at(-1) ?? {}).event).toMatchObject({
    outcome: { kind: 'completed', text: 'Hello.' },
  });
});

test('cancel over HTTP ends the run as cancelled', async () => {
  const url = await serve([{ calls: [{ name: 'files.write', input: { path: 'a' } }] }]);
  const {
    run: { runId },
  } = await jsonOf(await post(`${url}/agents/scribe/runs`, { message: 'x' }));
  await eventsOf(await fetch(`${url}/runs/${runId}/events`));
  const cancelled = await post(`${url}/runs/${runId}/cancel`, { reason: 'changed my mind' });
  expect(cancelled.status).toBe(202);
  const all = await eventsOf(await fetch(`${url}/runs/${runId}/events`));
  expect(envelopeOf(all.at(-1) ?? {}).event).toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(
    await jsonOf(
      await post(`${url}/runs/${runId}/signals`, { kind: 'user-message', payload: { text: 'hi' } }),
    ),
  ).toMatchObject({ code: 'RUN_ENDED' });
  expect(written).toEqual([]);
});

test('another user of the tenant sees nothing of it, at no door', async () => {
  const url = await serve([{ calls: [{ name: 'files.write', input: { path: 'a' } }] }], {
    authenticate: ({ headers }) => {
      const userId = headers.get('x-user');
      if (userId === null) return undefined;
      return { scope: { tenantId: 't', userId }, subject: userId, roles: [], permissions: [] };
    },
  });
  const as = (user: string) => ({ 'x-user': user });
  const {
    run: { runId },
  } = await jsonOf(await post(`${url}/agents/scribe/runs`, { message: 'x' }, as('ann')));
  await eventsOf(await fetch(`${url}/runs/${runId}/events`, { headers: as('ann') }));
  const { items } = await jsonOf(await fetch(`${url}/waits`, { headers: as('ann') }));
  const [wait] = items;
  expect(items).toHaveLength(1);
  for (const path of [`/runs/${runId}`, `/runs/${runId}/events`, `/runs/${runId}/evidence`]) {
    expect((await fetch(`${url}${path}`, { headers: as('bob') })).status).toBe(404);
  }
  expect((await post(`${url}/waits/${wait?.id}`, { decision: 'approve' }, as('bob'))).status).toBe(
    404,
  );
  expect((await post(`${url}/runs/${runId}/cancel`, {}, as('bob'))).status).toBe(404);
  for (const list of ['/runs', '/waits']) {
    expect((await jsonOf(await fetch(`${url}${list}`, { headers: as('bob') }))).items).toEqual([]);
  }
  expect(written).toEqual([]);
});

test('a bad cursor, an unknown agent and a bad page are refused with their codes', async () => {
  const url = await serve([]);
  const codeOf = async (response: Response) => [response.status, (await jsonOf(response)).code];
  expect(await codeOf(await post(`${url}/agents/nobody/runs`, { message: 'x' }))).toEqual([
    404,
    'AGENT_UNKNOWN',
  ]);
  expect(await codeOf(await fetch(`${url}/runs?limit=0`))).toEqual([422, 'INPUT_INVALID']);
  expect(await codeOf(await post(`${url}/agents/scribe/runs`, { message: ' ' }))).toEqual([
    422,
    'INPUT_INVALID',
  ]);
});

test('a port that is taken stops the start, says which, and closes what was set up', async () => {
  const url = await serve([]);
  const { port } = new URL(url);
  const second = bootstrap({
    plugins: [scriptedModel([]), httpHost({ port: Number(port) })],
    agents: [hello],
  });
  const error: unknown = await second.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`127.0.0.1:${port}`);
});
