import { defineAgent, type ModelRequest } from '@hexagent/agent-core';
import { overflowOf } from '@hexagent/agent-core/adapter';
import { vllmModel } from '@hexagent/agent-vllm';
import { Type } from 'typebox';
import { expect } from 'vitest';
import { tinyApp, withTinyModel } from './tiny-app.ts';
import { add, getWeather } from './weather-tools.ts';

const { modelTest, server } = await withTinyModel();
const stop = { signal: new AbortController().signal };

const asking = (text: string, maxTokens: number): ModelRequest => ({
  messages: [{ role: 'user', origin: 'user', parts: [{ type: 'text', text }] }],
  tools: [],
  toolChoice: 'auto',
  sampling: { maxTokens },
  requestId: 'window',
});

modelTest(
  'an output that does not fit beside its prompt is lowered to the room there is',
  async () => {
    const model = vllmModel({ baseUrl: server().url, extra: { ignore_eos: true } });
    const request = asking('Count to 20.', 1020);
    const prompt = Number(await model.countTokens?.(request, stop));
    const before = server().generations.length;
    for await (const batch of model.stream(request, stop)) void batch;
    expect(server().generations[before]).toMatchObject({
      reason: 'length',
      outputTokens: 1024 - prompt,
    });
    model.close();
  },
);

modelTest('a prompt of more than 1,024 tokens is an overflow with exact numbers', async () => {
  const model = vllmModel({ baseUrl: server().url });
  const request = asking('What is the weather in Paris? '.repeat(400), 50);
  const reading = async (): Promise<void> => {
    for await (const batch of model.stream(request, stop)) void batch;
  };
  const error = await reading().catch((reason: unknown) => reason);
  expect(overflowOf(error)).toEqual({
    kind: 'context-overflow',
    window: 1024,
    inputTokens: await model.countTokens?.(request, stop),
    outputTokens: 50,
    isExact: true,
  });
  model.close();
});

modelTest(
  'C35: tools are called first, and the answer of the last turn fits its schema',
  async () => {
    const agent = defineAgent({
      name: 'typed-weather',
      recovery: 'action-boundary',
      tools: [getWeather, add],
      output: Type.Object({ temp: Type.Integer() }),
      sampling: { maxTokens: 200 },
    });
    const app = await tinyApp(server(), agent);
    const result = await app.run(agent, 'What is the weather in Paris?');
    expect(result).toMatchObject({
      kind: 'completed',
      toolCalls: ['get_weather'],
      output: { temp: expect.any(Number) },
    });
  },
);
