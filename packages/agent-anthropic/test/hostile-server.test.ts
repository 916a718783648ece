import { type LoopbackServer, loopbackServer, status, streamed } from '@hexagent/test-loopback';
import { collected, failure, never, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AnthropicOptions, anthropicModel } from '../src/index.ts';
import { errorFrame, messageStart, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';
const JSON_TYPE = { 'content-type': 'application/json' };

const stream = (more: Partial<AnthropicOptions> = {}) =>
  anthropicModel({
    baseUrl: server.origin,
    model: 'claude-test',
    apiKey: KEY,
    retries: 0,
    ...more,
  }).stream(request(), never);
const failing = (more: Partial<AnthropicOptions> = {}) => failure(collected(stream(more)));

test('a redirect is told and not followed: no other host gets the prompt or the key', async () => {
  const other = await loopbackServer();
  other.otherwise(streamed(...textAnswer('hi')));
  const location = `${other.origin}/v1/messages`;
  server.reply(status(307, '', { location }));
  expect(await failing({ auth: 'both' })).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
    message: expect.stringContaining(`it redirects to ${location}`),
  });
  expect(other.received).toHaveLength(0);
  await other.close();
});

test('what is no JSON is shown without the key, also where the cut goes through it', async () => {
  server.reply(
    streamed(messageStart(), `data: oops ${KEY}\n\n`),
    streamed(`data: ${'x'.repeat(190)}${KEY}\n\n`),
  );
  expect(String(await failing())).toContain('the stream carried "oops ***"');
  expect(String(await failing())).not.toContain('sk-secret');
});

test('a stream that ends inside of a frame was cut, and is worth another try', async () => {
  server.reply(streamed(messageStart(), 'data: {"type":"content_block_st'));
  expect(await failing()).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
});

test('errors inside of a stream name the request', async () => {
  server.reply(async (response) => {
    response.setHeader('request-id', 'req_7');
    await streamed(messageStart(), errorFrame('overloaded_error', 'busy'))(
      response,
      never as never,
    );
  });
  expect(String(await failing())).toContain('/v1/messages (request req_7): ');
});

describe('an answer that is no stream', () => {
  test('is read where it is a message', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'S' };
    const content = [
      thinking,
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'search', input: { q: 'x' } },
    ];
    const usage = { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 3 };
    server.reply(
      status(200, { type: 'message', model: 'claude-9', content, stop_reason: 'tool_use', usage }),
    );
    expect(await collected(stream())).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call-start', index: 0, providerCallId: 'toolu_1', name: 'search' },
      { type: 'tool-call-delta', index: 0, delta: '{"q":"x"}' },
      {
        type: 'provider-state',
        state: {
          provider: 'anthropic',
          value: { order: [{ block: thinking }, { text: 11 }, { call: 0 }] },
        },
      },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { inputTokens: 7, cachedInputTokens: 2, outputTokens: 3 },
        model: 'claude-9',
      },
    ]);
  });

  test('is an error where it says so, in whatever words', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: `no ${KEY}` } };
    server.reply(status(200, overloaded), status(200, { detail: 'the quota is used up' }));
    const error = await failing();
    expect(error).toMatchObject({ code: 'MODEL_OVERLOADED', retryable: true });
    expect(String(error)).toContain('no ***');
    expect(String(await failing())).toContain('the quota is used up');
  });

  test('is a stream where only its type is wrong', async () => {
    server.reply(status(200, textAnswer('hi').join(''), JSON_TYPE), status(200, 'hm', JSON_TYPE));
    expect((await collected(stream())).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    expect(await failing()).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
  });
});
