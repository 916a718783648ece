import { expect, test } from 'vitest';
import {
  type AgentModel,
  bind,
  bootstrap,
  type Cost,
  defineAgent,
  Model,
  ModelCatalogue,
  type ModelSelection,
  modelCatalogue,
  type Plugin,
  type Prices,
  routedModel,
  withFallbacks,
} from '../../src/index.ts';
import {
  memoryDurability,
  memoryStore,
  type ScriptOptions,
  scripted,
  scriptedModel,
} from '../../src/testing/index.ts';
import { modelOverloaded } from '../../src/wire/index.ts';
import { answer, appOf, evidenceOf, read } from './harness.ts';

const PRICES: Prices = { currency: 'USD', input: 2, output: '7.5', cached: '0.2' };
const entry = { provider: 'scripted', model: 'scripted', prices: PRICES };
const provide = [bind(ModelCatalogue, modelCatalogue([entry]))];
const usage = { inputTokens: 1_000, outputTokens: 10, cachedInputTokens: 500 };
// 500 · 2 + 500 · 0.2 + 10 · 7.5 millionths
const EACH = '0.001175';

const tools = [read('look', () => 'nothing')];
const call = { calls: [{ name: 'look', input: { id: '1' } }], usage };
const limited = (maxCost: Cost) => defineAgent({ name: 'spender', tools, limits: { maxCost } });
const usd = (amount: string): Cost => ({ amount, currency: 'USD' });

test('a run says what it has cost, exactly, and the evidence of each call says its part', async () => {
  const agent = defineAgent({ name: 'spender', tools, recovery: 'action-boundary' });
  const app = await appOf(agent, [call, { text: 'Done.', usage }], {
    provide,
    store: memoryStore(),
  });
  const result = await app.run(agent, 'go');
  expect(result.cost).toEqual(usd('0.00235'));
  const rows = await evidenceOf(app, result.runId);
  const costs = rows.flatMap(({ kind, payload }) => (kind === 'model' ? [payload?.['cost']] : []));
  expect(costs).toEqual([usd(EACH), usd(EACH)]);
  await app.close();
});

test('what a run has cost goes with it to its next owner', async () => {
  const asking = read('look', () => 'nothing', { approval: 'required' });
  const agent = defineAgent({ name: 'spender', tools: [asking], recovery: 'action-boundary' });
  const store = memoryStore();
  const first = await appOf(agent, [call], { provide, store });
  const run = await first.start(agent, 'go');
  expect(await run.result).toMatchObject({ kind: 'paused', cost: usd(EACH) });
  await first.close();
  const second = await appOf(agent, [{ text: 'Done.', usage }], { provide, store });
  await answer(second, run.runId, { decision: 'approve' });
  expect((await (await second.attach(agent, run.runId)).result).cost).toEqual(usd('0.00235'));
  await second.close();
});

test('without a catalogue, or with a call that nobody can price, no cost is claimed', async () => {
  const agent = defineAgent({ name: 'spender', tools });
  const bare = await appOf(agent, [{ text: 'Done.', usage }]);
  expect(await bare.run(agent, 'go')).not.toHaveProperty('cost');
  const unsaid = await appOf(agent, [call, { text: 'Done.', usage: { inputTokens: 1 } }], {
    provide,
  });
  expect(await unsaid.run(agent, 'go')).not.toHaveProperty('cost');
  await bare.close();
  await unsaid.close();
});

test('a run that has cost its limit asks nothing more', async () => {
  const agent = limited(usd(EACH));
  const app = await appOf(agent, [call, { text: 'Never.' }], { provide });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: {
      code: 'MAX_COST_EXCEEDED',
      message: 'The run has cost 0.001175 USD; the limit is 0.001175 USD.',
    },
    cost: usd(EACH),
  });
  expect(app.model.unused).toBe(1);
  const roomy = limited(usd('0.001176'));
  const other = await appOf(roomy, [call, { text: 'Done.', usage }], { provide });
  expect(await other.run(roomy, 'go')).toMatchObject({ kind: 'completed' });
  await app.close();
  await other.close();
});

test('a call whose price nobody knows ends a limited run before the next one', async () => {
  const agent = limited(usd('1'));
  const others = [bind(ModelCatalogue, modelCatalogue([{ ...entry, provider: 'other' }]))];
  const app = await appOf(agent, [call, { text: 'Never.' }], { provide: others });
  expect(await app.run(agent, 'go')).toMatchObject({
    kind: 'failed',
    error: {
      code: 'COST_UNAVAILABLE',
      message: 'limits.maxCost is 1 USD, and what its model calls have cost is not known.',
    },
  });
  await app.close();
});

const named = (name: string, capabilities: ScriptOptions['capabilities'] = {}): Plugin =>
  scriptedModel([], { capabilities: { model: name, ...capabilities } });

test.each([
  { what: 'no catalogue', plugin: named('m'), provide: [], why: /no catalogue of models is bound/ },
  {
    what: 'no prices of its model',
    plugin: named('m'),
    provide,
    why: /the catalogue has no prices of "m" by "scripted"/,
  },
  {
    what: 'prices in another currency',
    plugin: named('scripted'),
    provide: [
      bind(ModelCatalogue, modelCatalogue([{ ...entry, prices: { ...PRICES, currency: 'EUR' } }])),
    ],
    why: /the prices of "scripted" by "scripted" are in EUR/,
  },
])('a limit of cost with $what is refused at bootstrap', async ({ plugin, provide, why }) => {
  const agent = limited(usd('1'));
  await expect(bootstrap({ plugins: [plugin], agents: [agent], provide })).rejects.toMatchObject({
    code: 'COST_UNAVAILABLE',
    message: expect.stringMatching(why),
  });
});

test('what callers may select needs a price, too, and stands among the other problems', async () => {
  const agent = defineAgent({
    name: 'spender',
    limits: { maxCost: usd('1') },
    selection: [{ model: 'scripted' }, { model: 'unpriced' }],
  });
  const twice = [agent, agent];
  await expect(
    bootstrap({ plugins: [scriptedModel([])], agents: twice, provide }),
  ).rejects.toMatchObject({
    code: 'BOOTSTRAP_INVALID',
    message: expect.stringMatching(/the catalogue has no prices of "unpriced" by "scripted"/),
  });
});

test('a selected model without a price is refused before its first call', async () => {
  const agent = limited(usd('1'));
  const app = await appOf(agent, [], { provide });
  const result = await app.run(agent, { message: 'go', selection: { model: 'unpriced' } });
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'COST_UNAVAILABLE' } });
  await app.close();
});

test('a price in another currency than the limit is noticed with the first answer at the latest', async () => {
  const agent = limited(usd('1'));
  const euros = { ...entry, prices: { ...PRICES, currency: 'EUR' } };
  const app = await appOf(agent, [call, { text: 'Never.' }], {
    provide: [bind(ModelCatalogue, modelCatalogue([euros]))],
  });
  expect(await app.run(agent, 'go')).toMatchObject({
    error: {
      code: 'COST_UNAVAILABLE',
      message: 'limits.maxCost is 1 USD, and the run has cost 0.001175 EUR.',
    },
  });
  await app.close();
});

test('where several models stand behind one, the price is that of who has answered', async () => {
  const agent = defineAgent({ name: 'spender', recovery: 'action-boundary' });
  const dear = { ...scripted([{ text: 'Done.', usage }]), id: 'dear' };
  const app = await bootstrap({
    plugins: [memoryDurability(memoryStore())],
    agents: [agent],
    provide: [
      bind(Model, withFallbacks([dear])),
      bind(
        ModelCatalogue,
        modelCatalogue([
          entry,
          { ...entry, provider: 'dear', prices: { ...PRICES, output: 1_000 } },
        ]),
      ),
    ],
  });
  const result = await app.run(agent, 'go');
  expect(result.cost).toEqual(usd('0.0111'));
  const rows = await evidenceOf(app, result.runId);
  expect(rows.find(({ kind }) => kind === 'model')?.payload).toMatchObject({ provider: 'dear' });
  await app.close();
});

test('a name with a date costs as the name that was asked for', async () => {
  const agent = limited(usd('1'));
  const asked = { ...entry, model: 'large' };
  const app = await appOf(agent, [{ text: 'Done.', usage }], {
    provide: [bind(ModelCatalogue, modelCatalogue([asked]))],
  });
  const result = await app.run(agent, { message: 'go', selection: { model: 'large' } });
  expect(result.cost).toEqual(usd(EACH));
  await app.close();
});

/** A model that is asked for by a name and answers under another. */
const answering = (provider: string, asked: string, name: string): AgentModel => {
  const model = scripted([{ text: 'Done.', usage }], { capabilities: { model: asked } });
  return {
    ...model,
    id: provider,
    stream: async function* (request, stop) {
      for await (const batch of model.stream(request, stop))
        yield batch.map((event) => (event.type === 'finish' ? { ...event, model: name } : event));
    },
  };
};

const failing = (provider: string): AgentModel => ({
  ...scripted([{ error: modelOverloaded({ reason: 'busy' }) }], {
    capabilities: { model: 'large' },
  }),
  id: provider,
});

const DATED = 'large-2026-10-21';
const large = (provider: string): AgentModel => answering(provider, 'large', DATED);
const small = (provider: string): AgentModel => answering(provider, 'small', 'small@20261021');

const costBehind = async (model: AgentModel, selection?: ModelSelection) => {
  const agent = defineAgent({ name: 'spender' });
  const entries = ['p', 'q'].map((provider) => ({ ...entry, provider, model: 'large' }));
  const app = await bootstrap({
    plugins: [],
    agents: [agent],
    provide: [bind(Model, model), bind(ModelCatalogue, modelCatalogue(entries))],
  });
  const { cost } = await app.run(agent, {
    message: 'go',
    ...(selection === undefined ? {} : { selection }),
  });
  await app.close();
  return cost;
};

test.each<{ what: string; model: () => AgentModel; selection?: ModelSelection }>([
  {
    what: 'the one model of the provider that has answered',
    model: () => routedModel({ routes: { one: large('p'), other: small('q') } }),
  },
  {
    what: 'a fallback with another provider',
    model: () =>
      routedModel({ routes: { one: failing('p'), other: large('q') }, fallback: ['other'] }),
  },
  {
    what: 'the selected route',
    model: () => routedModel({ routes: { one: small('p'), other: large('p') } }),
    selection: { profile: 'other' },
  },
  {
    what: 'several that take the selected name',
    model: () => routedModel({ routes: { one: large('p'), other: large('p') } }),
    selection: { model: 'large' },
  },
  { what: 'the first of a chain', model: () => withFallbacks([large('p'), small('q')]) },
])(
  'behind several models, a name with a date costs as the name that was asked for: $what',
  async ({ model, selection }) => {
    expect(await costBehind(model(), selection)).toEqual(usd(EACH));
  },
);

test.each<{ what: string; model: () => AgentModel; selection?: ModelSelection }>([
  {
    what: 'another model of the provider has answered',
    model: () => withFallbacks([failing('p'), small('p')]),
  },
  {
    what: 'another version has answered',
    model: () => withFallbacks([failing('p'), answering('p', 'large-2', 'large-2-20261021')]),
  },
  {
    what: 'the provider has several',
    model: () => routedModel({ routes: { one: large('p'), other: small('p') } }),
  },
  {
    what: 'the chain takes only selections of its first',
    model: () => withFallbacks([{ ...failing('p'), selectionProblem: () => 'no' }, large('q')]),
  },
])('no cost is claimed where nobody can say which name was asked for: $what', async ({ model }) => {
  expect(await costBehind(model())).toBeUndefined();
});
