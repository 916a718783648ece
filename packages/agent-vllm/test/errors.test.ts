import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { overflowOf } from '@hexagent/agent-core/adapter';
import { type LoopbackServer, loopbackServer, status, streamed } from '@hexagent/test-loopback';
import { collected, failure, never, pausing, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { chunk, ROLE, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';

const failing = (more: Partial<VllmOptions> = {}) => {
  const model = vllmModel({
    baseUrl: server.baseUrl,
    model: 'm',
    apiKey: KEY,
    clock: pausing().clock,
    random: () => 0,
    ...more,
  });
  return failure(collected(model.stream(request(), never)));
};

test('a server that is down: the error names the address and the mend, after two more tries', async () => {
  const { clock, pauses } = pausing();
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  for (const fetch of [undefined, globalThis.fetch]) {
    expect(
      await failing({ baseUrl, clock, ...(fetch === undefined ? {} : { fetch }) }),
    ).toMatchObject({
      code: 'MODEL_UNREACHABLE',
      retryable: true,
      message: expect.stringMatching(new RegExp(`${baseUrl}/chat/completions.*ECONNREFUSED`)),
      mend: `Start the model server, or correct baseUrl; check with: curl ${baseUrl}/models`,
    });
  }
  expect(pauses).toEqual([250, 500, 250, 500]);
});

test('a host that does not exist is not tried again', async () => {
  const { clock, pauses } = pausing();
  const lookup = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('getaddrinfo ENOTFOUND nowhere.invalid'), { code: 'ENOTFOUND' }),
  });
  const error = await failing({ clock, fetch: () => Promise.reject(lookup) });
  expect(error).toMatchObject({ code: 'MODEL_UNREACHABLE', retryable: false });
  expect(error).toHaveProperty('message', expect.stringContaining('nowhere.invalid'));
  expect(pauses).toEqual([]);
});

test('the wrong protocol is named in one line', async () => {
  const message = 'write EPROTO 804C:error:0A00010B:SSL routines:wrong version number:\n';
  const cause = Object.assign(new Error(message), { code: 'EPROTO' });
  const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }));
  const error = await failing({ fetch });
  expect(error).toHaveProperty('message', expect.stringMatching(/wrong version number:$/));
  expect(error).toHaveProperty('mend', expect.stringContaining('protocol (http: or https:)'));
});

test('a fetch may throw anything, and shows no key', async () => {
  const thrown = [
    new TypeError(`Headers.append: "Bearer ${KEY}" is an invalid header value`),
    `text with ${KEY}`,
    new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], ''),
  ];
  const codes: unknown[] = [];
  for (const value of thrown) {
    const error = await failing({ fetch: () => Promise.reject(value) });
    expect(JSON.stringify(error) + String(error)).not.toContain(KEY);
    codes.push(error instanceof Error && 'code' in error ? error.code : error);
  }
  expect(codes).toEqual(['MODEL_REQUEST_INVALID', 'MODEL_UNREACHABLE', 'MODEL_UNREACHABLE']);
});

test('a wrong address that answers with a page', async () => {
  const page = '<!DOCTYPE html><html><head><title>Nothing here</title></head></html>';
  const html = { 'content-type': 'text/html; charset=utf-8' };
  server.reply(status(404, page, html));
  expect(await failing()).toMatchObject({
    code: 'MODEL_NOT_FOUND',
    message: `${server.baseUrl}/chat/completions: HTTP 404, an HTML page, "Nothing here"`,
    mend: expect.stringContaining('"/v1"'),
  });
  server.reply(status(200, page, html));
  expect(await failing()).toMatchObject({
    code: 'MODEL_RESPONSE_INVALID',
    mend: expect.stringContaining('"/v1"'),
  });
});

test('a model that the server does not have', async () => {
  const message = 'The model `m` does not exist.';
  server.reply(
    status(404, { error: { message, type: 'NotFoundError', param: 'model', code: 404 } }),
  );
  expect(await failing()).toMatchObject({
    code: 'MODEL_NOT_FOUND',
    message: expect.stringContaining(message),
    mend: expect.stringContaining('/models'),
  });
});

test("vLLM's answer to a wrong key is a string, and the key is not shown", async () => {
  server.reply(status(401, { error: 'Unauthorized' }));
  expect(await failing()).toMatchObject({
    code: 'MODEL_AUTHENTICATION',
    message: expect.stringContaining('HTTP 401, Unauthorized'),
    retryable: false,
  });
  server.reply(status(401, { error: { message: `Incorrect API key: ${KEY}` } }));
  expect(String(await failing())).toContain('Incorrect API key: ***');
  expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${KEY}`,
    `Bearer ${KEY}`,
  ]);
});

test('vLLM started without a tool parser is mended by its own flags', async () => {
  const message =
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
  server.reply(status(400, { object: 'error', message, type: 'BadRequestError', code: 400 }));
  expect(await failing()).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
    mend: 'Start vLLM with --enable-auto-tool-choice and --tool-call-parser for your model.',
  });
});

test('an overflow is not tried again, and carries its numbers', async () => {
  const message =
    "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and your prompt contains 4000 input tokens, for a total of 4100 tokens.";
  server.reply(
    status(400, { error: { message, type: 'BadRequestError', param: 'input_tokens', code: 400 } }),
  );
  const error = await failing();
  expect(error).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', retryable: false });
  expect(overflowOf(error)).toMatchObject({ window: 4096, inputTokens: 4000, outputTokens: 100 });
  expect(server.received).toHaveLength(1);
});

test('too much output is not a matter of compaction', async () => {
  const message = 'max_completion_tokens=9000 cannot be greater than max_model_len=4096.';
  server.reply(status(400, { error: { message, type: 'BadRequestError', code: 400 } }));
  expect(await failing()).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
    mend: expect.stringContaining('maxTokens'),
  });
});

test('a stream of something else says what it began with', async () => {
  server.otherwise(streamed('hello: world\n\n'));
  expect(await failing()).toMatchObject({
    code: 'MODEL_RESPONSE_INVALID',
    message: expect.stringContaining('"hello:world"'),
  });
  server.otherwise(streamed('data: not JSON\n\n'));
  expect(await failing()).toMatchObject({
    code: 'MODEL_RESPONSE_INVALID',
    message: expect.stringContaining('not JSON'),
  });
});

test.each([
  ['abort', 'MODEL_STREAM_TRUNCATED'],
  ['error', 'MODEL_FAILED'],
])('the finish reason "%s" is an error', async (reason, code) => {
  server.otherwise(streamed(ROLE, chunk({ content: '' }, reason)));
  expect(await failing()).toMatchObject({ code });
});

test('a refusal is an error with the words of the model', async () => {
  server.reply(streamed(ROLE, chunk({ refusal: 'I will ' }), chunk({ refusal: 'not.' }, 'stop')));
  expect(await failing()).toMatchObject({
    code: 'MODEL_REFUSED',
    message: expect.stringContaining('I will not.'),
  });
});

test('a call without a name is an error', async () => {
  const nameless = { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] };
  server.otherwise(streamed(ROLE, chunk(nameless), chunk({}, 'tool_calls')));
  expect(await failing()).toMatchObject({ code: 'MODEL_RESPONSE_INVALID', retryable: true });
});

test('credentials in the address go into a header and never into an error', async () => {
  server.reply(status(400, 'no'), streamed(...textAnswer('ok')));
  const baseUrl = server.baseUrl.replace('http://', 'http://user:pa55word@');
  const { apiKey: _, ...open } = { apiKey: KEY };
  const model = vllmModel({ ...open, baseUrl, model: 'm' });
  const error = await failure(collected(model.stream(request(), never)));
  expect(String(error)).not.toContain('pa55word');
  expect(server.received[0]?.headers.authorization).toBe(`Basic ${btoa('user:pa55word')}`);
});

test('a redirect says where to', async () => {
  server.reply(status(307, '', { location: 'https://elsewhere.test/v1' }));
  expect(await failing()).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
    message: expect.stringContaining('https://elsewhere.test/v1'),
  });
});

test('a long error body is not read to its end', async () => {
  server.reply(status(400, 'x'.repeat(300_000)));
  expect(String(await failing()).length).toBeLessThan(3000);
});
