import { expect, test } from 'vitest';
import {
  modelAuthentication,
  modelContextOverflow,
  modelOverloaded,
} from '../base/error-catalog.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { type ScriptStep, scripted } from '../testing/scripted-model.ts';
import type { Part } from '../vocabulary/message.ts';
import type { AgentModel, ModelCapabilities, ModelEvent, ModelRequest } from './agent-model.ts';
import { modelCatalogue } from './catalogue.ts';
import { type RoutedModelOptions, routedModel } from './routed-model.ts';
import { withTelemetry } from './telemetry.ts';

const busy = modelOverloaded({ reason: 'busy' });
const tool = { name: 'find', description: 'Finds.', parameters: {} };
const output = { name: 'o', schema: { type: 'object' } };
const image: Part = {
  type: 'media',
  mediaType: 'image/png',
  source: { kind: 'inline', base64: '' },
};
const said = (...parts: readonly Part[]) => ({ role: 'user', origin: 'user', parts }) as const;
const asking = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [said({ type: 'text', text: 'Hi' })],
  tools: [],
  toolChoice: 'none',
  requestId: 'r',
  ...more,
});

type Fake = AgentModel & { readonly asked: readonly ModelRequest[] };

const TEN: readonly ScriptStep[] = Array.from({ length: 10 }, () => ({ text: 'ok' }));

function fake(
  id: string,
  capabilities: Partial<ModelCapabilities> = {},
  { steps = TEN, ...more }: Partial<AgentModel> & { readonly steps?: readonly ScriptStep[] } = {},
): Fake {
  const inner = scripted(steps, { capabilities });
  return { ...inner, id, asked: inner.requests, ...more };
}

async function whoAnswers(model: AgentModel, request = asking()): Promise<string | undefined> {
  let finish: Extract<ModelEvent, { type: 'finish' }> | undefined;
  for await (const batch of model.stream(request, new AbortController()))
    for (const event of batch) if (event.type === 'finish') finish = event;
  return finish?.provider;
}

const router = (
  routes: Readonly<Record<string, AgentModel>>,
  more: Partial<RoutedModelOptions> = {},
): AgentModel => routedModel({ routes, ...more });

test('a route that another profile leaves out says that it was not asked', () => {
  const open = fake('open', {}, { selectionProblem: () => undefined });
  const closed = fake('closed', {}, { selectionProblem: () => 'closed' });
  expect(router({ open, closed }).selectionProblem?.({ profile: 'closed', model: 'm' })).toContain(
    '(open: not asked; closed: closed)',
  );
});

test('nothing selected: the default route, and without one the first', async () => {
  const routes = { fast: fake('a'), smart: fake('b') };
  expect(await whoAnswers(router(routes))).toBe('a');
  expect(await whoAnswers(router(routes, { default: 'smart' }))).toBe('b');
  expect(await whoAnswers(router(routes), asking({ selection: {} }))).toBe('a');
});

test('a profile is the name of a route, and the rest of the selection goes to its model', async () => {
  const smart = fake(
    'b',
    {},
    { selectionProblem: ({ model }) => (model === 'x' ? undefined : 'only x') },
  );
  const model = router({ fast: fake('a'), smart });
  expect(await whoAnswers(model, asking({ selection: { profile: 'smart' } }))).toBe('b');
  expect(await whoAnswers(model, asking({ selection: { profile: 'smart', model: 'x' } }))).toBe(
    'b',
  );
  expect(smart.asked.map(({ selection }) => selection)).toEqual([undefined, { model: 'x' }]);
  expect(model.selectionProblem?.({ profile: 'smart', model: 'y' })).toBe(
    'no route takes {"model":"y","profile":"smart"} (fast: it has no profile "smart"; smart: only x)',
  );
});

test('a provider or a model goes to the routes that take it, one that has exactly this model first', async () => {
  const any = fake('any');
  const exact = fake('exact', { model: 'large', provider: 'p' });
  const model = router({ any, exact });
  expect(await whoAnswers(model, asking({ selection: { model: 'large' } }))).toBe('p');
  expect(await whoAnswers(model, asking({ selection: { model: 'other' } }))).toBe('any');
  expect(await whoAnswers(model, asking({ selection: { provider: 'p' } }))).toBe('p');
  expect(exact.asked[1]?.selection).toEqual({ provider: 'p' });
  const selection = { provider: 'nobody' };
  expect(model.selectionProblem?.(selection)).toContain(
    'any: its provider is "any"; exact: its provider is "p"',
  );
  expect(model.selectionProblem?.({ profile: 'q' })).toContain('any: it has no profile "q"');
  expect(model.selectionProblem?.({ provider: 'p' })).toBeUndefined();
  expect(() => model.capabilities(selection)).toThrow('no route takes {"provider":"nobody"}');
  await expect(whoAnswers(model, asking({ selection }))).rejects.toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
  });
});

test.each([
  { what: 'tools', request: { tools: [tool] } },
  { what: 'an output schema', request: { output } },
  { what: 'an output schema beside tools', request: { tools: [tool], output } },
  { what: 'an image', request: { messages: [said(image)] } },
  {
    what: 'an image of a tool',
    request: {
      messages: [
        {
          role: 'tool',
          origin: 'tool',
          parts: [{ type: 'tool-result', callId: 'c', outcome: 'ok', content: [image] }],
        },
      ] as never,
    },
  },
  { what: 'room', request: { messages: [said({ type: 'text', text: 'x'.repeat(4_000) })] } },
  { what: 'room for its answer', request: { sampling: { maxTokens: 1_000 } } },
])('a request that needs $what goes to a route that has it', async ({ request }) => {
  const poor = fake('poor', { tools: false, structuredOutput: 'none', contextWindow: 500 });
  const rich = fake('rich', { contextWindow: 5_000, inputModalities: ['text', 'image'] });
  expect(await whoAnswers(router({ poor, rich }), asking(request))).toBe('rich');
  await expect(whoAnswers(router({ poor }), asking(request))).rejects.toThrow(
    /^No route can answer the request \(poor: .+\)\.$/,
  );
});

test('a schema alone goes to a route that takes it for a last answer', async () => {
  const last = fake('last', { structuredOutput: 'final-only' });
  const both = fake('both');
  expect(await whoAnswers(router({ last, both }), asking({ output }))).toBe('last');
  expect(await whoAnswers(router({ last, both }), asking({ output, tools: [tool] }))).toBe('both');
});

test('a window that a model does not say comes from the catalogue', async () => {
  const catalogue = modelCatalogue([{ provider: 'small', model: 'm', contextWindow: 10 }]);
  const routes = { small: fake('small', { model: 'm' }), large: fake('large') };
  const request = asking({ messages: [said({ type: 'text', text: 'x'.repeat(100) })] });
  expect(await whoAnswers(router(routes, { catalogue }), request)).toBe('large');
});

test('the cheapest by the catalogue; a route without a price is the last', async () => {
  const price = (provider: string, input: number, out: number) => ({
    provider,
    model: 'm',
    prices: { currency: 'USD', input, output: out },
  });
  const catalogue = modelCatalogue([
    price('dear', 1, 50),
    price('cheap', 2, 1),
    price('same', 2, 1),
  ]);
  const routes = Object.fromEntries(
    ['free', 'dear', 'cheap', 'same', 'odd'].map((id) => [id, fake(id, { model: 'm' })]),
  );
  const options = { catalogue, policy: 'cheapest' } as const;
  expect(await whoAnswers(router(routes, options))).toBe('cheap');
  const long = asking({
    messages: [said({ type: 'text', text: 'x'.repeat(8_000) })],
    sampling: { maxTokens: 1 },
  });
  expect(await whoAnswers(router(routes, options), long)).toBe('dear');
  const unpriced = { free: fake('free'), odd: fake('odd') };
  expect(await whoAnswers(router(unpriced, { policy: 'cheapest' }))).toBe('free');
});

test('the least loaded, asked for once a second at most', async () => {
  const clock = fakeClock();
  let asked = 0;
  const load = (running: number, waiting: number) => async () => {
    asked += 1;
    return { running, waiting };
  };
  const routes = {
    full: fake('full', {}, { load: load(1, 5) }),
    busy: fake('busy', {}, { load: load(9, 0) }),
    calm: fake('calm', {}, { load: load(2, 0) }),
  };
  const model = router(routes, { policy: 'least-loaded', clock });
  expect(await whoAnswers(model)).toBe('calm');
  expect(await whoAnswers(model)).toBe('calm');
  expect(asked).toBe(3);
  await clock.advance(1_000);
  await whoAnswers(model);
  expect(asked).toBe(6);
});

test('a server that cannot say how busy it is counts by the calls of this process', async () => {
  const clock = fakeClock();
  const mute = fake('mute', {}, { load: () => Promise.reject(new Error('no metrics')) });
  const slow = fake('slow', {}, { load: () => new Promise(() => undefined) });
  const plain = fake('plain');
  const model = router({ plain, mute, slow }, { policy: 'least-loaded', clock });
  const reading = model.stream(asking(), new AbortController())[Symbol.asyncIterator]();
  const first = reading.next();
  await clock.advance(250);
  await first;
  expect(plain.asked.length).toBe(1);
  expect(await whoAnswers(model, asking({ requestId: 's' }))).toBe('mute');
  await reading.return?.();
});

test('an abort while loads are asked for is answered with its reason', async () => {
  const slow = (id: string) => fake(id, {}, { load: () => new Promise(() => undefined) });
  const model = router(
    { a: slow('a'), b: slow('b') },
    { policy: 'least-loaded', clock: fakeClock() },
  );
  const stop = new AbortController();
  const pending = model.stream(asking(), stop)[Symbol.asyncIterator]().next();
  stop.abort(new Error('stopped'));
  await expect(pending).rejects.toThrow('stopped');
});

test('a function chooses by name; one that chooses nothing is an error', async () => {
  const routes = { a: fake('a'), b: fake('b'), c: fake('c', { tools: false }) };
  const seen: (readonly string[])[] = [];
  const model = router(routes, {
    policy: async (given) => {
      seen.push(given.map(({ name }) => name));
      return ['nobody', 'b'];
    },
  });
  expect(await whoAnswers(model, asking({ tools: [tool] }))).toBe('b');
  expect(seen).toEqual([['a', 'b']]);
  await expect(whoAnswers(router(routes, { policy: () => [] }))).rejects.toThrow('has chosen none');
});

test('a route that fails is followed by the fallbacks that take the selection and can answer', async () => {
  const failing = (id: string) => fake(id, {}, { steps: [{ error: busy }, { error: busy }] });
  const deaf = fake('deaf', { tools: false });
  const last = fake('last', { structuredOutput: 'final-only' });
  const options = { fallback: ['deaf', 'last', 'a'] };
  const model = router({ a: failing('a'), deaf, last }, options);
  expect(await whoAnswers(model, asking({ tools: [tool], output }))).toBe('last');
  // A schema that it cannot take beside tools is left out for it.
  expect(last.asked[0]).not.toHaveProperty('output');
  await expect(whoAnswers(model, asking({ selection: { profile: 'a' } }))).rejects.toBe(busy);
});

test('a key that is refused is no reason to ask another route, unless that is wanted', async () => {
  const refused = modelAuthentication({ reason: 'no' });
  const a = () => fake('a', {}, { steps: [{ error: refused }] });
  const fallback = ['b'];
  await expect(whoAnswers(router({ a: a(), b: fake('b') }, { fallback }))).rejects.toBe(refused);
  const fallbackOn = ['MODEL_AUTHENTICATION'] as const;
  expect(await whoAnswers(router({ a: a(), b: fake('b') }, { fallback, fallbackOn }))).toBe('b');
});

test('a prompt that is too long goes on to a route with a larger window, and to no other', async () => {
  const overflow = modelContextOverflow({ reason: 'too long' });
  const small = () => fake('small', { contextWindow: 100 }, { steps: [{ error: overflow }] });
  const options = { fallback: ['next'] };
  expect(
    await whoAnswers(
      router({ small: small(), next: fake('next', { contextWindow: 200 }) }, options),
    ),
  ).toBe('next');
  const catalogue = modelCatalogue([{ provider: 'next', model: 'm', contextWindow: 300 }]);
  const known = { small: small(), next: fake('next', { model: 'm' }) };
  expect(await whoAnswers(router(known, { ...options, catalogue }))).toBe('next');
  await expect(whoAnswers(router({ small: small(), next: fake('next') }, options))).rejects.toBe(
    overflow,
  );
});

test('the tries of a step stay with one route, until it fails with a fallback at hand', async () => {
  const broken = { text: 'par', error: busy };
  const a = fake('a', {}, { steps: [broken, { text: 'ok' }, broken] });
  const b = fake('b');
  let turn = 0;
  const policy = () => {
    turn += 1;
    return turn % 2 === 1 ? ['a'] : ['b'];
  };
  const model = router({ a, b }, { policy });
  await expect(whoAnswers(model)).rejects.toBe(busy);
  expect(await whoAnswers(model)).toBe('a');
  const other = router({ a, b }, { fallback: ['b'] });
  await expect(whoAnswers(other)).rejects.toBe(busy);
  expect(await whoAnswers(other)).toBe('b');
});

test('a turn stays with the provider whose state it holds, and the next turn is free', async () => {
  const state: Part = { type: 'reasoning', text: '', provider: { provider: 'b', value: 1 } };
  const answer = { role: 'assistant', origin: 'model', parts: [state] } as const;
  const [user] = asking().messages as [ModelRequest['messages'][number]];
  const model = router({ a: fake('a'), b: fake('b') });
  expect(await whoAnswers(model, asking({ messages: [user, answer] }))).toBe('b');
  expect(await whoAnswers(model, asking({ messages: [user, answer, user] }))).toBe('a');
  const foreign = { ...answer, parts: [{ ...state, provider: { provider: 'z', value: 1 } }] };
  expect(await whoAnswers(model, asking({ messages: [foreign] }))).toBe('a');
});

test('no more calls of a route go on at once than may', async () => {
  let open: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    open = resolve;
  });
  const a = fake('a', {}, { steps: [{ text: 'x', until }, { text: 'y' }] });
  const model = router({ a }, { concurrency: { a: 1 } });
  const both = [whoAnswers(model), whoAnswers(model, asking({ requestId: 's' }))];
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(a.asked.length).toBe(1);
  open();
  expect(await Promise.all(both)).toEqual(['a', 'a']);
});

test('what a router can do: how, by its first route; what it reads, by all of them', () => {
  const model = router({
    a: fake('a', { structuredOutput: 'final-only', contextWindow: 10, model: 'm' }),
    b: fake('b', { inputModalities: ['text', 'image'], contextWindow: 20 }),
  });
  expect(model.capabilities()).toEqual({
    tools: true,
    reasoning: true,
    structuredOutput: 'final-only',
    inputModalities: ['text', 'image'],
    contextWindow: 20,
  });
  expect(model.capabilities({ profile: 'a' })).toMatchObject({
    model: 'm',
    provider: 'a',
    contextWindow: 10,
  });
  expect(model.capabilities({ profile: 'b' })).not.toHaveProperty('model');
});

test('a request is counted by the model that would answer it, as that model would get it', async () => {
  const counted: (readonly [string, ModelRequest])[] = [];
  const counting = (id: string, tokens: number) => ({
    countTokens: async (request: ModelRequest) => {
      counted.push([id, request]);
      return tokens;
    },
  });
  const small = fake('small', { contextWindow: 500 }, counting('small', 1));
  const large = fake('large', { contextWindow: 5_000 }, counting('large', 2));
  const model = router({ small, large });
  const stop = new AbortController();
  const long = (length: number) => [said({ type: 'text', text: 'x'.repeat(length) })];
  expect(await model.countTokens?.(asking(), stop)).toBe(1);
  expect(await model.countTokens?.(asking({ selection: { profile: 'large' } }), stop)).toBe(2);
  expect(counted[1]?.[1]).not.toHaveProperty('selection');
  expect(await model.countTokens?.(asking({ messages: long(4_000) }), stop)).toBe(2);
  // One that no route has room for is the one whose size is worth knowing.
  expect(await model.countTokens?.(asking({ messages: long(40_000) }), stop)).toBe(1);
  await expect(
    model.countTokens?.(asking({ selection: { provider: 'nobody' } }), stop),
  ).rejects.toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
  expect([small, large].flatMap(({ asked }) => asked)).toEqual([]);
});

test('a request is counted by the route that its step stays with', async () => {
  const counts = (tokens: number) => ({ countTokens: async () => tokens });
  const a = fake('a', {}, { steps: [{ text: 'par', error: busy }], ...counts(1) });
  const model = router({ a, b: fake('b', {}, counts(2)) }, { fallback: ['b'] });
  const stop = new AbortController();
  expect(await model.countTokens?.(asking(), stop)).toBe(1);
  await expect(whoAnswers(model)).rejects.toBe(busy);
  expect(await model.countTokens?.(asking(), stop)).toBe(2);
});

test('a router counts only where each of its routes can', () => {
  const a = fake('a', {}, { countTokens: async () => 1 });
  expect(router({ a, b: fake('b') }).countTokens).toBeUndefined();
});

test('two addresses under one name of a provider are refused; one address, or no known one, is not', () => {
  const at = (address: string, more: Partial<ModelCapabilities> = {}) =>
    fake('p', more, { address });
  expect(() => router({ a: at('http://one/v1'), b: at('http://two/v1') })).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      problems: [
        {
          at: 'routes.b',
          seen: 'asks http://two/v1 as "p", and routes.a asks http://one/v1 under the same name.',
          mend: 'Give one of them an id of its own: { id: "p-2" }.',
        },
      ],
    }),
  );
  // What wraps a model tells its address on.
  const wrapped = withTelemetry(at('http://two/v1'), { called: () => undefined });
  expect(() => router({ a: at('http://one/v1'), b: wrapped })).toThrow('routes.b: asks http://two');
  const fine = { a: at('http://one/v1'), b: at('http://one/v1'), c: fake('p') };
  expect(router({ ...fine, d: at('http://two/v1', { provider: 'q' }) }).id).toBe('router');
});

test('what is wrong with the options is said at once', () => {
  const options = {
    routes: { a: fake('a') },
    default: 'x',
    fallback: ['a', 'y'],
    concurrency: { z: 1, a: 0 },
    policy: 'best',
    fallbackOn: ['MODEL_SLOW'],
  } as unknown as RoutedModelOptions;
  expect(() => routedModel(options)).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      problems: [
        'default',
        'fallback[1]',
        'concurrency.z',
        'concurrency.a',
        'policy',
        'fallbackOn[0]',
      ].map((at) => expect.objectContaining({ at })),
    }),
  );
  expect(() => routedModel({ routes: {} })).toThrow('routes: is empty.');
});
