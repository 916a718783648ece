import { readFileSync } from 'node:fs';
import type { AgentModel, SetupContext } from '@hexagent/agent-core';
import { type LoopbackServer, loopbackServer, stalled, status } from '@hexagent/test-loopback';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type VllmOptions, vllm } from '../src/index.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

type Start = Parameters<SetupContext['onStart']>[0];
type Close = Parameters<SetupContext['onClose']>[0];

/** Sets the plugin up as bootstrap does. */
async function setUp(options: VllmOptions) {
  const starts: Start[] = [];
  const closes: Close[] = [];
  const context = {
    get: () => {
      throw new Error('it requires nothing');
    },
    all: () => [],
    onStart: (step: Start) => starts.push(step),
    onClose: (step: Close) => closes.push(step),
  } as unknown as SetupContext;
  const bindings = await vllm(options).setup(context);
  const stop = { signal: new AbortController().signal };
  return {
    bindings,
    model: bindings[0]?.value as AgentModel,
    start: () => Promise.all(starts.map((step) => step({} as Parameters<Start>[0], stop))),
    close: () => Promise.all(closes.map((step) => step(stop))),
  };
}

test('the manifest says what setup does, under the version of the package', async () => {
  const { name, version } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  expect(vllm.manifest).toMatchObject({
    name,
    version,
    contract: 1,
    contributes: ['model', 'model-probe'],
    requires: [],
  });
  const { bindings, close } = await setUp({ baseUrl: server.baseUrl });
  expect(bindings.map(({ port }) => port.id)).toEqual(vllm.manifest.contributes);
  await close();
});

test('every option that is data is in the manifest', () => {
  const { properties } = vllm.manifest.options as { properties: object };
  const functions = ['fetch', 'clock', 'random'];
  const data: Required<Omit<VllmOptions, 'fetch' | 'clock' | 'random'>> = {
    baseUrl: '',
    id: '',
    model: '',
    apiKey: '',
    profile: 'vllm',
    headers: {},
    timeouts: {},
    retries: 0,
    chatTemplateKwargs: {},
    thinking: true,
    extra: {},
    cacheSalt: { secret: '' },
    priority: 1,
    promptCache: false,
    minOutputTokens: 1,
    stream: true,
    contextWindow: 1,
    inputModalities: [],
  };
  expect(Object.keys(properties).sort()).toEqual(Object.keys(data).sort());
  expect(functions.some((name) => name in properties)).toBe(false);
});

test('the start asks for the context window and does not wait for it', async () => {
  server.reply(status(200, { data: [{ id: 'm', max_model_len: 64 }] }));
  const { model, start, close } = await setUp({ baseUrl: server.baseUrl, model: 'm' });
  await start();
  await server.requests(1);
  await server.received[0]?.ended;
  while (model.capabilities().contextWindow === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(model.capabilities().contextWindow).toBe(64);
  await close();
});

test('a server that is down or silent neither fails the start nor holds the end', async () => {
  server.reply(stalled());
  const { start, close } = await setUp({ baseUrl: server.baseUrl });
  await start();
  await server.requests(1);
  await close();
  expect(await server.received[0]?.ended).toBe('broken');
});

test('a window that is known is not asked for', async () => {
  const { start, close } = await setUp({ baseUrl: server.baseUrl, contextWindow: 9 });
  await start();
  await close();
  expect(server.received).toHaveLength(0);
});

test('bad options fail at setup, all at once', async () => {
  await expect(setUp({ baseUrl: 'nowhere', retries: -1 })).rejects.toThrow(/2 problems/);
});
