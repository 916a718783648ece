import {
  type LoopbackServer,
  loopbackServer,
  reset,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenAiOptions, openaiModel } from '../src/index.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';
const chunk = (text: string, reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { content: text }, finish_reason: reason }] })}\n\n`;

const stream = (more: Partial<OpenAiOptions> = {}) =>
  openaiModel({
    baseUrl: server.baseUrl,
    model: 'm',
    apiKey: KEY,
    retries: 0,
    ...more,
  }).stream(request(), never);
const failing = (more: Partial<OpenAiOptions> = {}) => failure(collected(stream(more)));

describe.each([
  { api: 'responses', path: '/responses' },
  { api: 'chat', path: '/chat/completions' },
] as const)('$api', ({ api, path }) => {
  test('a redirect is told and not followed: no other host gets the prompt or a key', async () => {
    const other = await loopbackServer();
    const location = `${other.baseUrl}${path}`;
    server.reply(status(307, '', { location }));
    expect(await failing({ api, headers: { 'api-key': KEY } })).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining(`it redirects to ${location}`),
    });
    expect(other.received).toHaveLength(0);
    await other.close();
  });

  test('what is no JSON is shown without the key, also where the cut goes through it', async () => {
    server.reply(streamed(`data: oops ${KEY}\n\n`), streamed(`data: ${'x'.repeat(190)}${KEY}\n\n`));
    expect(String(await failing({ api }))).toContain('the stream carried "oops ***"');
    expect(String(await failing({ api }))).not.toContain('sk-secret');
  });

  test('a break before the server has said why it stopped is one', async () => {
    server.reply(reset(chunk('par')));
    expect(await failing({ api })).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED' });
  });
});

test('chat: a break behind the reason does no harm', async () => {
  server.reply(reset(chunk('ok', 'stop')));
  const events = await collected(stream({ api: 'chat' }));
  expect(events.map(({ type }) => type)).toEqual(['text', 'finish']);
});
