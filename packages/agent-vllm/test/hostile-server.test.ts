import { gzipSync } from 'node:zlib';
import { fakeClock } from '@hexagent/agent-core/testing';
import {
  beginStream,
  type LoopbackServer,
  loopbackServer,
  status,
  streamed,
  write,
} from '@hexagent/test-loopback';
import { collected, failure, never, pausing, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { codeOf, profileOf } from '../src/probe/profile-of.ts';
import { chunk, DONE, ROLE, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';

const model = (more: Partial<VllmOptions> = {}) =>
  vllmModel({ baseUrl: server.baseUrl, model: 'm', apiKey: KEY, retries: 0, ...more });
const failing = (more: Partial<VllmOptions> = {}, requestId = 'r1') =>
  failure(collected(model(more).stream(request({ requestId }), never)));

describe.each([
  { name: 'over node:http', options: {} },
  { name: 'over a fetch', options: { fetch: globalThis.fetch } },
])('$name', ({ options }) => {
  test('a redirect is told and not followed: no other host gets the prompt or a key', async () => {
    const other = await loopbackServer();
    other.otherwise(streamed(...textAnswer('hi')));
    const location = `${other.baseUrl}/chat/completions`;
    server.reply(status(307, '', { location }));
    const error = await failing({ ...options, headers: { 'x-api-key': KEY } });
    expect(error).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining(`it redirects to ${location}`),
    });
    expect(other.received).toHaveLength(0);
    await other.close();
  });

  test('whoever reads slowly is not told that the server is silent', async () => {
    server.reply(
      streamed(ROLE, chunk({ content: 'one' }), chunk({ content: 'two' }, 'stop'), DONE),
    );
    const clock = fakeClock();
    const stream = model({ ...options, clock })
      .stream(request(), never)
      [Symbol.asyncIterator]();
    const events = [...((await stream.next()).value ?? [])];
    await clock.advance(3_600_000);
    for (let step = await stream.next(); step.done !== true; step = await stream.next()) {
      events.push(...step.value);
    }
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  test('a request id that no header can carry is an error of the request, not of the network', async () => {
    for (const requestId of ['a\r\nx-evil: 1', 'läuft 😀']) {
      expect(await failing(options, requestId)).toMatchObject({
        code: 'MODEL_REQUEST_INVALID',
        retryable: false,
      });
    }
    expect(server.received).toHaveLength(0);
  });
});

test('what is no JSON is shown without the key, also where the cut goes through it', async () => {
  server.reply(streamed(`data: oops ${KEY}\n\n`), streamed(`oops ${KEY}\n`));
  expect(String(await failing())).toContain('the stream carried "oops ***"');
  expect(String(await failing())).toContain('it began with "oops ***"');
  server.reply(streamed(`data: ${'x'.repeat(190)}${KEY}\n\n`));
  expect(String(await failing())).not.toContain('sk-secret');
});

test('a stream that ends inside of a frame was cut, and is worth another try', async () => {
  server.reply(streamed(ROLE, chunk({ content: 'par' }), 'data: {"choices":[{"del'));
  expect(await failing()).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
  server.reply(streamed(ROLE, chunk({ content: 'ok' }, 'stop'), 'data: {"usage":{"prom'));
  const events = await collected(model().stream(request(), never));
  expect(events.map(({ type }) => type)).toEqual(['text', 'finish']);
});

test('an answer that is packed without being asked for says so, and is not tried again', async () => {
  server.reply((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(textAnswer('hi').join('')));
  });
  expect(await failing()).toMatchObject({
    code: 'MODEL_RESPONSE_INVALID',
    retryable: false,
    message: expect.stringContaining('content-encoding "gzip"'),
  });
  expect(server.received[0]?.headers['accept-encoding']).toBe('identity');
});

test('a fetch unpacks what is packed', async () => {
  server.reply((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(textAnswer('hi').join('')));
  });
  const events = await collected(model({ fetch: globalThis.fetch }).stream(request(), never));
  expect(events[0]).toEqual({ type: 'text', text: 'hi' });
});

test('credentials of the address that a server echoes as it got them are masked', async () => {
  const url = new URL(server.baseUrl);
  url.username = 'user';
  url.password = 'pass-word-1';
  server.reply((response, { headers }) =>
    status(400, { error: { message: `seen: ${headers.authorization}` } })(response, never as never),
  );
  const plain = vllmModel({ baseUrl: url.href, model: 'm', retries: 0, clock: pausing().clock });
  const error = await failure(collected(plain.stream(request(), never)));
  expect(String(error)).toContain('seen: Basic ***');
});

test("errors name the request as the server's logs do, before and inside of a stream", async () => {
  server.reply(status(500, { error: { message: 'no' } }, { 'x-request-id': 'req-7' }));
  expect(String(await failing())).toContain('/chat/completions (request req-7): HTTP 500');
  server.reply(async (response) => {
    response.setHeader('x-generation-id', 'gen-8');
    beginStream(response);
    await write(response, 'data: {"error":{"message":"no"}}\n\n');
    response.end();
  });
  expect(String(await failing())).toContain('/chat/completions (request gen-8): ');
});

test('the conclusion of a probe keeps what the options say, and what was seen wins', () => {
  const profile = {
    base: 'vllm',
    toolCallIds: 'nine-characters',
    metrics: 'none',
    media: { image: [], audio: [], video: [], document: [] },
  } as const;
  const options = { baseUrl: 'http://m/v1', profile };
  const concluded = profileOf('vllm', { metrics: 'vllm' }, options);
  expect(concluded).toEqual({
    base: 'vllm',
    toolCallIds: 'nine-characters',
    media: profile.media,
  });
  expect(codeOf(options, 'it\'s\n"new"', concluded)).toBe(
    `vllm({\n  baseUrl: 'http://m/v1',\n  model: 'it\\'s\\n"new"',\n  profile: { base: 'vllm', toolCallIds: 'nine-characters', media: {"image":[],"audio":[],"video":[],"document":[]} },\n})`,
  );
});
