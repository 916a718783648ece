import { expect, onTestFinished, test } from 'vitest';
import { type Reply, type Served, serveModel } from './index.ts';

async function served(decide: (request: Served) => Reply): Promise<string> {
  const model = await serveModel(decide);
  onTestFinished(() => model.close());
  return model.url;
}

async function ask(url: string, body: string): Promise<Response> {
  return fetch(`${url}/chat/completions`, { method: 'POST', body });
}

test('names its model', async () => {
  const url = await served(() => ({}));
  expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: 'scripted' }] });
});

test('streams text and calls, then the end and the usage', async () => {
  const url = await served(({ messages, tools }) => ({
    text: `heard ${messages.length} of ${tools}`,
    calls: [{ name: 'math_add', input: { a: 1, b: 2 } }],
  }));
  const request = {
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: { name: 'math_add' } }],
  };
  const text = await (await ask(url, JSON.stringify(request))).text();
  const lines = text.split('\n\n').filter((line) => line !== '');
  expect(lines.at(-1)).toBe('data: [DONE]');
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
  const deltas = chunks.flatMap(({ choices }) =>
    choices.map(({ delta }: { delta: unknown }) => delta),
  );
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe('heard 1 of math_add');
  const pieces = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
  expect(pieces.map((piece) => piece.function.arguments).join('')).toBe('{"a":1,"b":2}');
  expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls');
  expect(chunks.at(-1).usage.completion_tokens).toBe(4);
});

test('ends with "stop" when nothing is called', async () => {
  const url = await served(() => ({}));
  expect(await (await ask(url, '{"messages":[]}')).text()).toContain('"finish_reason":"stop"');
});

test('answers an unknown route and a broken request with an error', async () => {
  const url = await served(() => ({}));
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  const broken = await ask(url, 'not json');
  expect(broken.status).toBe(500);
  expect(await broken.json()).toMatchObject({ error: { type: 'server_error' } });
});
