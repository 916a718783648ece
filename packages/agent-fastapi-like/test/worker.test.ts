import {
  type AgentDefinition,
  type App,
  bootstrap,
  createWorker,
  type DurableStore,
  defineAgent,
  type WorkerReport,
} from '@hexagent/agent-core';
import { memoryDurability, memoryStore, scriptedModel } from '@hexagent/agent-core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type HttpHostOptions, HttpServer, httpHost } from '../src/index.ts';
import { startWorker } from '../src/operation/host-worker.ts';
import { AT_ONCE, ask } from './client.ts';
import { eventsOf } from './sse-client.ts';

const scribe = defineAgent({ name: 'scribe', recovery: 'action-boundary' });
const fleeting = defineAgent({ name: 'fleeting' });

type Steps = Parameters<typeof scriptedModel>[0];

async function serve(
  store: DurableStore,
  steps: Steps,
  {
    agents = [scribe],
    ...options
  }: Partial<HttpHostOptions> & { readonly agents?: readonly AgentDefinition[] } = {},
): Promise<{ readonly app: App; readonly url: string }> {
  const app = await bootstrap({
    plugins: [
      scriptedModel(steps),
      memoryDurability(store),
      httpHost({ port: 0, logLevel: 'silent', ...options }),
    ],
    agents,
  });
  onTestFinished(() => app.close());
  return { app, url: app.all(HttpServer)[0]?.url ?? '' };
}

/** A run that its process has left in the middle of an answer of the model. */
async function leftRun(store: DurableStore): Promise<string> {
  const { app, url } = await serve(store, [{ text: ['Hel', 'lo.'], until: new Promise(() => {}) }]);
  const started = await ask(`${url}/agents/scribe/runs`, {
    body: { message: 'hi' },
    headers: AT_ONCE,
  });
  await app.close();
  return started.headers.get('location') ?? '';
}

/** The store, and how often somebody has asked it for any run that can be claimed. */
function counted(store: DurableStore): { readonly store: DurableStore; claims(): number } {
  let claims = 0;
  const ownership: DurableStore['ownership'] = {
    ...store.ownership,
    claim: (what, options) => {
      if (what === 'next') claims += 1;
      return store.ownership.claim(what, options);
    },
  };
  return { store: { ...store, ownership }, claims: () => claims };
}

test('a run that a host has left goes on in the next one, without a word', async () => {
  const store = memoryStore();
  const location = await leftRun(store);
  const { url } = await serve(store, [{ text: 'Hello.' }]);
  const all = await eventsOf(await fetch(`${url}${location}/events`));
  expect(all.at(-1)?.data).toContain('"outcome":{"kind":"completed"');
});

test('with `worker: false` it waits until somebody else works', async () => {
  const store = memoryStore();
  const location = await leftRun(store);
  const { store: watched, claims } = counted(store);
  const { app, url } = await serve(watched, [{ text: 'Hello.' }], { worker: false });
  expect((await ask(`${url}${location}`)).body).toMatchObject({ status: 'active' });
  expect(claims()).toBe(0);
  createWorker(app).start();
  await eventsOf(await fetch(`${url}${location}/events`));
  expect((await ask(`${url}${location}`)).body).toMatchObject({ status: 'completed' });
});

test('a host that closes claims nothing more, while an open request may still finish', async () => {
  const { store, claims } = counted(memoryStore());
  let isAsked = false;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { app, url } = await serve(store, [], {
    worker: { pollMs: 10 },
    routes: (api) =>
      api.get('/slow', {}, () => {
        isAsked = true;
        return held;
      }),
  });
  await expect.poll(claims).toBeGreaterThan(0);
  const slow = fetch(`${url}/slow`);
  await expect.poll(() => isAsked).toBe(true);
  const closed = app.close();
  await expect
    .poll(() =>
      fetch(url).then(
        () => 'open',
        () => 'closed',
      ),
    )
    .toBe('closed');
  const before = claims();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(claims()).toBe(before);
  release();
  expect((await slow).status).toBe(204);
  await closed;
});

test('where no agent is durable there is nothing to claim, and no worker', async () => {
  const { store, claims } = counted(memoryStore());
  const { url } = await serve(store, [], { agents: [fleeting], worker: { concurrency: 2 } });
  expect((await ask(`${url}/agents`)).status).toBe(200);
  expect(claims()).toBe(0);
});

test('its options are checked before anything starts, all at once', async () => {
  const refused = async (worker: unknown): Promise<string> => {
    const options = { worker } as Partial<HttpHostOptions>;
    return serve(memoryStore(), [], options).then(() => 'taken', String);
  };
  const numbers = await refused({ concurrency: 0, pollMs: 1, workers: 3 });
  for (const name of ['concurrency', 'pollMs', 'workers']) expect(numbers).toContain(name);
  expect(await refused(true)).toContain('httpHost.options.worker: is true.');
  expect(await refused({ report: 'loud' })).toContain('worker.report: is a string.');
  const fine = { concurrency: 2, perAgent: 1, pollMs: 50, graceMs: 0, report: () => undefined };
  expect(await refused(fine)).toBe('taken');
  expect(await refused({ report: undefined })).toBe('taken');
});

test('the log says what it claims, what comes of it, and what fails; `report` hears it, too', async () => {
  const store = memoryStore();
  const location = await leftRun(store);
  const { app, url } = await serve(store, [{ text: 'Hello.' }], { worker: false });
  const lines: (readonly [level: string, what: object, words: string | undefined])[] = [];
  const level = (name: string) => (what: object, words?: string) =>
    void lines.push([name, what, words]);
  const log = { info: level('info'), warn: level('warn'), debug: level('debug') };
  const heard: WorkerReport[] = [];
  startWorker(app.runs, { worker: { report: (report) => heard.push(report) }, log });
  await eventsOf(await fetch(`${url}${location}/events`));
  const run = location.split('/').at(-1);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines).toEqual([
    ['info', { run, agent: 'scribe', deliveries: expect.any(Number) }, 'run claimed'],
    ['debug', { run, agent: 'scribe', rest: 'completed' }, 'claimed run rested'],
  ]);
  expect(heard.map(({ type }) => type)).toEqual(['claimed', 'rested']);
});

test('a store that is away is told as a warning', async () => {
  const store = memoryStore();
  const away: DurableStore['ownership'] = {
    ...store.ownership,
    claim: async () => {
      throw new Error('The store is away.');
    },
  };
  const { app } = await serve({ ...store, ownership: away }, [], { worker: false });
  const warned: object[] = [];
  const quiet = (): void => undefined;
  const log = { info: quiet, debug: quiet, warn: (what: object) => void warned.push(what) };
  startWorker(app.runs, { worker: {}, log });
  await expect.poll(() => warned[0]).toMatchObject({ err: { message: 'The store is away.' } });
});
