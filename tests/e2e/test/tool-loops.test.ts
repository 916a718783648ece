import { defineAgent, defineTool, effects, verifyEvidence } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { expect } from 'vitest';
import { eventsOf, shape, storeFile, tinyApp, told, withTinyModel } from './tiny-app.ts';
import { add, getWeather } from './weather-tools.ts';

const { modelTest, server } = await withTinyModel();

const weather = defineAgent({
  name: 'weather',
  recovery: 'action-boundary',
  tools: [getWeather, add],
});

/** Of a call, while the model writes it; all of them end when its answer does. */
const CALL = ['tool-call-start', 'tool-call-args-delta'];

modelTest(
  'a question becomes a call, its result an answer, and the log tells the same',
  async () => {
    const file = storeFile();
    const app = await tinyApp(server(), weather, { file });
    const run = await app.start(weather, 'What is the weather in Paris?');
    const live = await eventsOf(run);
    const result = await run.result;

    expect(shape(live)).toEqual([
      'run-started',
      'step-started',
      ...CALL,
      'tool-call-end',
      'step-finished',
      'step-started',
      'tool-call-result',
      'step-finished',
      'step-started',
      'message-delta',
      'step-finished',
      'run-finished',
    ]);
    expect(result).toMatchObject({
      kind: 'completed',
      output: 'It is sunny in Paris and 21 degrees.',
      toolCalls: ['get_weather'],
    });
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.usage.outputTokens).toBeGreaterThan(0);

    const later = await tinyApp(server(), weather, { file });
    const caller = later.local('local');
    expect(verifyEvidence(await later.runs.evidence(run.runId, {}, caller))).toBeUndefined();
    const stored = await eventsOf(await later.attach(weather, run.runId));
    expect(told(stored)).toEqual(told(live));
    expect(told(stored)).toEqual([
      'It is sunny in Paris and 21 degrees.',
      ['get_weather', 'ok', [{ type: 'data', data: { city: 'Paris', sky: 'sunny', temp: 21 } }]],
    ]);
  },
);

modelTest('two calls of one answer run together, and their results go back in order', async () => {
  const app = await tinyApp(server(), weather);
  const run = await app.start(weather, 'What is the weather in London and Oslo?');
  const live = await eventsOf(run);

  expect(await run.result).toMatchObject({
    kind: 'completed',
    output: 'It is rainy in London and snowy in Oslo.',
    toolCalls: ['get_weather', 'get_weather'],
  });
  expect(shape(live)).toEqual([
    'run-started',
    'step-started',
    ...CALL,
    ...CALL,
    'tool-call-end',
    'tool-call-end',
    'step-finished',
    'step-started',
    'tool-call-result',
    'tool-call-result',
    'step-finished',
    'step-started',
    'message-delta',
    'step-finished',
    'run-finished',
  ]);
});

modelTest('a second question is asked with the first one and its answer before it', async () => {
  const app = await tinyApp(server(), weather);
  const conversationId = 'talk';
  const first = await app.run(weather, { message: 'What is 3 plus 4?', conversationId });
  expect(first).toMatchObject({ kind: 'completed', output: 'The sum is 7.' });
  const lastPrompt = server().generations.at(-1)?.inputTokens ?? 0;
  const before = server().generations.length;
  expect((await app.run(weather, { message: 'Thanks!', conversationId })).kind).toBe('completed');
  expect(server().generations[before]?.inputTokens).toBeGreaterThan(lastPrompt);
});

modelTest('a tool that fails is told to the model, which says so', async () => {
  const broken = defineTool({
    name: 'get_weather',
    description: 'The weather in a city.',
    input: Type.Object({ city: Type.String() }),
    effects: effects.readOnly(),
    execute: () => {
      throw new Error('timeout');
    },
  });
  const agent = defineAgent({ name: 'unlucky', recovery: 'action-boundary', tools: [broken, add] });
  const app = await tinyApp(server(), agent);
  const run = await app.start(agent, 'What is the weather in Rome?');
  const live = await eventsOf(run);
  expect(told(live)[1]).toEqual([
    'get_weather',
    'error',
    [{ type: 'text', text: expect.stringContaining('timeout') }],
  ]);
  expect((await run.result).kind).toBe('completed');
});

modelTest(
  'a call that needs a person pauses; another application approves it, and it runs once',
  async () => {
    const asked: string[] = [];
    const gated = defineTool({
      name: 'get_weather',
      description: 'The weather in a city, which costs money.',
      input: Type.Object({ city: Type.String() }),
      effects: effects.externalSideEffect(),
      execute: ({ city }) => {
        asked.push(city);
        return { city, sky: 'windy', temp: 25 };
      },
    });
    const agent = defineAgent({
      name: 'careful',
      recovery: 'action-boundary',
      tools: [gated, add],
    });
    const file = storeFile();
    const first = await tinyApp(server(), agent, { file });
    const paused = await first.run(agent, 'Tell me the weather in Tokyo.');
    expect(paused).toMatchObject({ kind: 'paused', waits: [{ kind: 'approval' }] });
    expect(asked).toEqual([]);
    await first.close();

    const second = await tinyApp(server(), agent, { file });
    const operator = second.local('operator');
    const { items } = await second.runs.waits({ status: 'pending' }, operator);
    expect(items).toHaveLength(1);
    for (const { id } of items) await second.runs.resolve(id, { decision: 'approve' }, operator);
    const run = await second.attach(agent, paused.runId);
    expect(await run.result).toMatchObject({
      kind: 'completed',
      output: 'It is windy in Tokyo and 25 degrees.',
    });
    expect(asked).toEqual(['Tokyo']);
    const ends = (await eventsOf(run)).filter(({ event }) => event.type === 'run-finished');
    expect(ends).toHaveLength(1);
  },
);

modelTest('eight runs at the same time do not mix', async () => {
  const app = await tinyApp(server(), weather);
  const sums = [0, 1, 2, 3, 4, 5, 6, 7].map((a) => ({ a, b: a + 1 }));
  const runs = await Promise.all(
    sums.map(({ a, b }) => app.run(weather, `What is ${a} plus ${b}?`)),
  );
  expect(runs.map((run) => run.kind === 'completed' && run.output)).toEqual(
    sums.map(({ a, b }) => `The sum is ${a + b}.`),
  );
});
