import { type LoopbackServer, loopbackServer, streamed } from '@hexagent/test-loopback';
import { collected, never, request, SEARCH } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vllmModel } from '../src/index.ts';
import { bare, call, calls, chunk, DONE, ROLE, textAnswer, USAGE } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

test('streams text as it comes, and ends in finish with the usage', async () => {
  server.reply(streamed(...textAnswer('Hel', 'lo')));
  const model = vllmModel({ baseUrl: server.baseUrl, model: 'm' });
  const batches = [];
  for await (const batch of model.stream(request(), never)) batches.push(batch);
  expect(batches.flat()).toEqual([
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 9, outputTokens: 3 }, model: 'm' },
  ]);
  expect(batches.at(-1)?.at(-1)?.type).toBe('finish');
  expect(server.received[0]).toMatchObject({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'x-request-id': 'r1', accept: 'text/event-stream, application/json' },
    body: {
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      stream_options: { include_usage: true },
    },
  });
});

test('a tool call comes back under the name of the application', async () => {
  server.reply(
    streamed(
      ROLE,
      chunk(calls(call({ index: 0, id: 'c1', name: 'workspace_search', args: '' }))),
      chunk(calls(call({ index: 0, args: '{"q":' }))),
      chunk(calls(call({ index: 0, args: '"x"}' }))),
      chunk({}, 'tool_calls'),
      bare({ choices: [], usage: USAGE }),
      DONE,
    ),
  );
  const model = vllmModel({ baseUrl: server.baseUrl, model: 'm' });
  const events = await collected(model.stream(request({ tools: [SEARCH] }), never));
  expect(events).toMatchObject([
    { type: 'tool-call-start', index: 0, providerCallId: 'c1', name: 'workspace.search' },
    { type: 'tool-call-delta', index: 0, delta: '{"q":' },
    { type: 'tool-call-delta', index: 0, delta: '"x"}' },
    { type: 'finish', reason: 'tool-calls' },
  ]);
  expect(server.received[0]?.body).toMatchObject({
    tools: [{ type: 'function', function: { name: 'workspace_search' } }],
    tool_choice: 'auto',
  });
});
