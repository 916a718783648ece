import {
  type AgentModel,
  defineAgent,
  type ModelEvent,
  type ModelRequest,
} from '@hexagent/agent-core';
import { vllmModel } from '@hexagent/agent-vllm';
import { Type } from 'typebox';
import { expect } from 'vitest';
import { tinyApp, withTinyModel } from './tiny-app.ts';

const { modelTest, server } = await withTinyModel();
const stop = { signal: new AbortController().signal };

const request: ModelRequest = {
  messages: [{ role: 'user', origin: 'user', parts: [{ type: 'text', text: 'Hello!' }] }],
  tools: [
    {
      name: 'add',
      description: 'The sum.',
      parameters: {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      },
    },
  ],
  toolChoice: 'auto',
  sampling: { maxTokens: 60 },
  requestId: 'request',
};

async function answer(model: AgentModel, asked: ModelRequest): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(asked, stop)) events.push(...batch);
  return events;
}

modelTest('the adapter finds the model and its context window', async () => {
  const model = vllmModel({ baseUrl: server().url });
  await model.discover(stop);
  expect(model.capabilities().contextWindow).toBe(1024);
  expect(await answer(model, request)).toContainEqual(
    expect.objectContaining({ type: 'finish', reason: 'stop', model: 'tiny-tools' }),
  );
  model.close();
});

modelTest('tokens are counted as the server counts them', async () => {
  const model = vllmModel({ baseUrl: server().url });
  const counted = await model.countTokens?.(request, stop);
  const before = server().generations.length;
  await answer(model, request);
  expect(counted).toBe(server().generations[before]?.inputTokens);
  model.close();
});

modelTest('a tool that must be called is called', async () => {
  const model = vllmModel({ baseUrl: server().url });
  for (const toolChoice of ['required', { name: 'add' }] as const) {
    const events = await answer(model, { ...request, toolChoice });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool-call-start', name: 'add' }),
    );
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' });
  }
  model.close();
});

modelTest('a whole answer says what a streamed one says', async () => {
  const said = async (stream: boolean): Promise<string> => {
    const model = vllmModel({ baseUrl: server().url, stream });
    const events = await answer(model, request);
    model.close();
    return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  };
  expect(await said(false)).toBe('Hello! How can I help you today?');
  expect(await said(true)).toBe(await said(false));
});

modelTest('an answer with a schema fits it', async () => {
  const agent = defineAgent({
    name: 'typed',
    recovery: 'action-boundary',
    output: Type.Object({ count: Type.Integer() }),
    sampling: { maxTokens: 200 },
  });
  const app = await tinyApp(server(), agent);
  const result = await app.run(agent, 'What is 3 plus 4?');
  expect(result).toMatchObject({ kind: 'completed', output: { count: expect.any(Number) } });
});

modelTest('what it cannot read is refused in words', async () => {
  const post = async (path: string, body: string): Promise<readonly [number, unknown]> => {
    const response = await fetch(new URL(path, server().url), { method: 'POST', body });
    return [response.status, await response.json()];
  };
  expect(await post('/v1/chat/completions', '{"messages":')).toMatchObject([
    400,
    { error: { type: 'BadRequestError' } },
  ]);
  expect(await post('/v1/chat/completions', '{"messages":[]}')).toMatchObject([
    400,
    { error: { message: expect.stringContaining('messages') } },
  ]);
  expect(await post('/v1/completions', '{}')).toMatchObject([404, {}]);
});
