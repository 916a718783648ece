import { anthropic, anthropicModel } from '@hexagent/agent-anthropic';
import {
  type AgentModel,
  bind,
  bootstrap,
  defineAgent,
  Model,
  type ModelCall,
  ModelCatalogue,
  modelCatalogue,
  modelRouter,
  type Plugin,
  routedModel,
  withTelemetry,
} from '@hexagent/agent-core';
import type { ScriptedServer } from '@hexagent/agent-core/testing';
import { openai, openaiModel } from '@hexagent/agent-openai';
import { vllm, vllmModel } from '@hexagent/agent-vllm';
import { type LoopbackServer, loopbackServer } from '@hexagent/test-loopback';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { scriptedServer as anthropicServer } from '../../../packages/agent-anthropic/test/scripted-server.ts';
import { responsesServer } from '../../../packages/agent-openai/test/scripted-server.ts';
import { scriptedServer as vllmServer } from '../../../packages/agent-vllm/test/scripted-server.ts';

type Options = { readonly id?: string; readonly baseUrl: string; readonly model?: string };

const common = { model: 'm', apiKey: 'sk-1', retries: 0 } as const;

const ADAPTERS: readonly {
  readonly name: string;
  readonly plugin: (options: Options) => Plugin;
  readonly model: (options: Options) => AgentModel;
  readonly serverOf: (loopback: LoopbackServer) => ScriptedServer;
}[] = [
  {
    name: 'openai',
    plugin: (options) => openai({ ...common, ...options }),
    model: (options) => openaiModel({ ...common, ...options }),
    serverOf: responsesServer,
  },
  {
    name: 'anthropic',
    plugin: (options) => anthropic({ ...common, ...options }),
    model: (options) => anthropicModel({ ...common, ...options }),
    serverOf: anthropicServer,
  },
  {
    name: 'vllm',
    plugin: (options) => vllm({ ...common, contextWindow: 9_000, ...options }),
    model: (options) => vllmModel({ ...common, ...options }),
    serverOf: vllmServer,
  },
];

const agent = defineAgent({ name: 'asker' });
const priceOf = (provider: string, input: number) => ({
  provider,
  model: 'm',
  // Under these names the scripted servers answer.
  aliases: ['gpt-test-2026-01-01', 'claude-test'],
  prices: { currency: 'USD', input, output: 0 },
});
const usage = { inputTokens: 1_000_000, outputTokens: 0 };

describe.each(ADAPTERS)('two endpoints of $name', ({ name, plugin, model, serverOf }) => {
  let loopbacks: readonly [LoopbackServer, LoopbackServer];
  beforeEach(async () => {
    loopbacks = [await loopbackServer(), await loopbackServer()];
    const [east, west] = loopbacks.map(serverOf);
    east?.answer({ kind: 'stream', text: ['from the east'], usage });
    west?.answer({ kind: 'stream', text: ['from the west'], usage });
  });
  afterEach(async () => {
    for (const loopback of loopbacks) await loopback.close();
  });
  const addresses = () => loopbacks.map(({ baseUrl }) => baseUrl) as [string, string];

  test('under two names are two: to selections, to prices, to telemetry', async () => {
    const [eastUrl, westUrl] = addresses();
    const calls: ModelCall[] = [];
    const told = (id: string, baseUrl: string) =>
      withTelemetry(model({ id, baseUrl }), { called: (call) => calls.push(call) });
    const routes = { east: told('east', eastUrl), west: told('west', westUrl) };
    const catalogue = modelCatalogue([priceOf('east', 7), priceOf('west', 3)]);
    const app = await bootstrap({
      plugins: [],
      provide: [
        bind(Model, routedModel({ routes, policy: 'cheapest', catalogue })),
        bind(ModelCatalogue, catalogue),
      ],
      agents: [agent],
    });
    const selection = { provider: 'east' };
    const asked = await app.run(agent, { message: 'Where?', selection });
    expect(asked).toMatchObject({ text: 'from the east', cost: { amount: '7' } });
    // Nothing selected: the catalogue knows which of the two is cheaper.
    const cheapest = await app.run(agent, 'Where?');
    expect(cheapest).toMatchObject({ text: 'from the west', cost: { amount: '3' } });
    expect(calls.map(({ id }) => id)).toEqual(['east', 'west']);
    await app.close();
  });

  test('of one name and address are told apart by their models', async () => {
    const [baseUrl] = addresses();
    const answers = { small: 0, large: 0 };
    const counting = (route: keyof typeof answers, of: AgentModel): AgentModel => ({
      ...of,
      stream: (request, stop) => {
        answers[route] += 1;
        return of.stream(request, stop);
      },
    });
    const routes = {
      small: counting('small', model({ baseUrl })),
      large: counting('large', model({ baseUrl, model: 'large' })),
    };
    const router = routedModel({ routes });
    for (const selection of [{ model: 'large' }, { provider: name, model: 'large' }]) {
      const app = await bootstrap({ plugins: [], provide: [bind(Model, router)], agents: [agent] });
      await app.run(agent, { message: 'Where?', selection });
      await app.close();
    }
    expect(answers).toEqual({ small: 0, large: 2 });
  });

  test('under one name stop the start, and the error says what to do', async () => {
    const [eastUrl, westUrl] = addresses();
    const routes = { east: plugin({ baseUrl: eastUrl }), west: plugin({ baseUrl: westUrl }) };
    const failing = bootstrap({ plugins: [modelRouter({ routes })], agents: [agent] });
    await expect(failing).rejects.toMatchObject({ code: 'BOOTSTRAP_INVALID' });
    await expect(failing).rejects.toThrow(
      new RegExp(
        `routes.west: asks http://\\S+ as "${name}", and routes.east asks http://\\S+ under the same name. ` +
          `Give one of them an id of its own: \\{ id: "${name}-2" \\}.`,
      ),
    );
    const named = { ...routes, west: plugin({ id: 'west', baseUrl: westUrl }) };
    const app = await bootstrap({ plugins: [modelRouter({ routes: named })], agents: [agent] });
    const west = { message: 'Where?', selection: { provider: 'west' } };
    expect(await app.run(agent, west)).toMatchObject({ text: 'from the west' });
    await app.close();
  });
});

test('a router over three adapters counts with the one that would answer', async () => {
  const loopback = await loopbackServer();
  const { baseUrl } = loopback;
  const routes = Object.fromEntries(ADAPTERS.map(({ name, model }) => [name, model({ baseUrl })]));
  const said = { role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Hi' }] } as const;
  const request = { messages: [said], tools: [], toolChoice: 'none', requestId: 'r' } as const;
  const stop = new AbortController();
  for (const [index, { name, serverOf }] of ADAPTERS.entries()) {
    serverOf(loopback);
    const tokens = await routedModel({ routes }).countTokens?.(
      { ...request, selection: { profile: name } },
      stop,
    );
    expect(tokens).toBeGreaterThan(0);
    expect(loopback.received).toHaveLength(index + 1);
  }
  expect(loopback.received.map(({ path }) => path)).toEqual([
    '/v1/responses/input_tokens',
    '/v1/messages/count_tokens',
    '/tokenize',
  ]);
  const uncounted = { ...routes, chat: openaiModel({ ...common, baseUrl, api: 'chat' }) };
  expect(routedModel({ routes: uncounted }).countTokens).toBeUndefined();
  await loopback.close();
});
