import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { overflowOf } from '@hexagent/agent-core/adapter';
import {
  type LoopbackServer,
  loopbackServer,
  reset,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, pausing, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AnthropicOptions, anthropicModel } from '../src/index.ts';
import { errorBody, errorFrame, messageStart, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';

const failing = (more: Partial<AnthropicOptions> = {}) => {
  const model = anthropicModel({
    baseUrl: server.origin,
    model: 'claude-test',
    apiKey: KEY,
    clock: pausing().clock,
    random: () => 0,
    ...more,
  });
  return failure(collected(model.stream(request(), never)));
};

test('a server that is down: the error names the address and the reason, after two more tries', async () => {
  const { clock, pauses } = pausing();
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  const baseUrl = `http://127.0.0.1:${port}`;
  expect(await failing({ baseUrl, clock })).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    retryable: true,
    message: expect.stringMatching(new RegExp(`${baseUrl}/v1/messages: ECONNREFUSED`)),
    mend: expect.stringContaining('baseUrl'),
  });
  expect(pauses).toEqual([250, 500]);
});

test.each([
  ['getaddrinfo ENOTFOUND nowhere.invalid', 'ENOTFOUND', 'host, port or certificate'],
  ['write EPROTO 804C:error:0A00010B:wrong version number:\n', 'EPROTO', 'protocol'],
])('%s is not tried again', async (message, code, mend) => {
  const { clock, pauses } = pausing();
  const cause = Object.assign(new Error(message), { code });
  const fetch = (): Promise<never> => Promise.reject(new TypeError('fetch failed', { cause }));
  expect(await failing({ clock, fetch })).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    retryable: false,
    message: expect.stringContaining(message.trim()),
    mend: expect.stringContaining(mend),
  });
  expect(pauses).toEqual([]);
});

test('a fetch may throw anything, and shows no key', async () => {
  const thrown = [
    new TypeError(`failed with "Bearer ${KEY}"`),
    `text with ${KEY}`,
    new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], ''),
    new Error('connect timed out'),
  ];
  const codes: unknown[] = [];
  for (const value of thrown) {
    const error = await failing({ fetch: () => Promise.reject(value) });
    expect(JSON.stringify(error) + String(error)).not.toContain(KEY);
    codes.push(error instanceof Error && 'code' in error ? error.code : error);
  }
  expect(codes).toEqual([
    'MODEL_UNREACHABLE',
    'MODEL_UNREACHABLE',
    'MODEL_UNREACHABLE',
    'MODEL_TIMEOUT',
  ]);
});

test('what the SDK itself refuses to send is an error of the request', async () => {
  expect(await failing({ headers: { 'x-note': 'ok' }, extra: { big: 1n as never } })).toMatchObject(
    {
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining('BigInt'),
    },
  );
});

test('each status is its own error, with the words of the provider and the id of the request', async () => {
  const answers: readonly (readonly [number, string, string, boolean])[] = [
    [400, 'invalid_request_error', 'MODEL_REQUEST_INVALID', false],
    [401, 'authentication_error', 'MODEL_AUTHENTICATION', false],
    [402, 'billing_error', 'MODEL_RATE_LIMITED', false],
    [403, 'permission_error', 'MODEL_AUTHENTICATION', false],
    [404, 'not_found_error', 'MODEL_NOT_FOUND', false],
    [408, 'timeout_error', 'MODEL_TIMEOUT', true],
    [413, 'request_too_large', 'MODEL_REQUEST_INVALID', false],
    [429, 'rate_limit_error', 'MODEL_RATE_LIMITED', true],
    [500, 'api_error', 'MODEL_FAILED', true],
    [529, 'overloaded_error', 'MODEL_OVERLOADED', true],
  ];
  for (const [code, type, expected, retryable] of answers) {
    server.reply(status(code, errorBody(type, `said ${type}`), { 'request-id': 'req_01' }));
    expect(await failing({ retries: 0 })).toMatchObject({
      code: expected,
      retryable,
      message: `${server.origin}/v1/messages: HTTP ${code}, said ${type} (request req_01)`,
    });
  }
});

test('overloaded before the stream is tried again, as long as the server asks', async () => {
  const { clock, pauses } = pausing();
  const model = anthropicModel({ baseUrl: server.origin, model: 'm', clock, random: () => 0 });
  server.reply(
    status(529, errorBody('overloaded_error', 'Overloaded')),
    status(429, errorBody('rate_limit_error', 'Slow down'), { 'retry-after': '2' }),
    streamed(...textAnswer('ok')),
  );
  expect(await collected(model.stream(request(), never))).toMatchObject([
    { type: 'text', text: 'ok' },
    { type: 'finish' },
  ]);
  expect(pauses).toEqual([250, 2000]);
});

test('overloaded in the stream before the first event is tried again, after it the runner decides', async () => {
  const overloaded = errorFrame('overloaded_error', 'Overloaded');
  server.otherwise(streamed(messageStart(), overloaded));
  expect(await failing()).toMatchObject({ code: 'MODEL_OVERLOADED', retryable: true });
  expect(server.received).toHaveLength(3);
  const [begin = '', text = ''] = textAnswer('par');
  server.otherwise(streamed(begin, text, overloaded));
  expect(await failing()).toMatchObject({ code: 'MODEL_OVERLOADED', retryable: true });
  expect(server.received).toHaveLength(4);
});

test('a connection that breaks in the stream is a cut, with the reason', async () => {
  const [begin = '', text = ''] = textAnswer('par');
  server.reply(reset(begin, text));
  expect(await failing()).toMatchObject({
    code: 'MODEL_STREAM_TRUNCATED',
    retryable: true,
    message: expect.stringContaining('the connection broke before the end'),
  });
});

test.each([
  [
    400,
    'prompt is too long: 210000 tokens > 200000 maximum',
    { window: 200_000, inputTokens: 210_000 },
  ],
  [
    400,
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
    { window: 200_000, inputTokens: 190_000, outputTokens: 20_000 },
  ],
])('an overflow carries its numbers: %s, %s', async (code, message, numbers) => {
  server.reply(status(code, errorBody('invalid_request_error', message)));
  const error = await failing();
  expect(error).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', retryable: false });
  expect(overflowOf(error)).toMatchObject({ ...numbers, isExact: true });
  expect(server.received).toHaveLength(1);
});

test('known words have a mend of their own', async () => {
  const mendOf = async (message: string) => {
    server.reply(status(400, errorBody('invalid_request_error', message)));
    return failing();
  };
  expect(await mendOf('Your credit balance is too low')).toMatchObject({
    mend: 'Add credit to the account.',
  });
  const limit = 'max_tokens: 99 > 8, which is the maximum allowed number of output tokens for m';
  expect(await mendOf(limit)).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
    mend: expect.stringContaining('maxTokens'),
  });
  expect(await mendOf('temperature: Extra inputs are not permitted')).toMatchObject({
    mend: expect.stringContaining('sampling.temperature'),
  });
});

test("vLLM's errors have names of their own, and a wrong key is a string", async () => {
  server.reply(status(400, errorBody('BadRequestError', 'no tool parser')));
  expect(await failing()).toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
  server.reply(status(401, { error: 'Unauthorized' }));
  expect(await failing()).toMatchObject({
    code: 'MODEL_AUTHENTICATION',
    message: expect.stringContaining('Unauthorized'),
  });
});

test('the key is in no error, also where the server repeats it', async () => {
  server.reply(status(401, errorBody('authentication_error', `invalid key: ${KEY}`)));
  const error = await failing({ auth: 'both' });
  expect(String(error)).toContain('invalid key: ***');
  expect(JSON.stringify(error)).not.toContain(KEY);
  server.reply(streamed(messageStart(), errorFrame('invalid_request_error', KEY)));
  expect(String(await failing())).not.toContain(KEY);
});

test('a wrong address that answers with a page, a text or JSON', async () => {
  const page = '<!DOCTYPE html><html><head><title>Nothing here</title></head></html>';
  const html = { 'content-type': 'text/html; charset=utf-8' };
  server.reply(status(404, page, html));
  expect(await failing()).toMatchObject({
    code: 'MODEL_NOT_FOUND',
    message: expect.stringContaining('HTTP 404, an HTML page, "Nothing here"'),
    mend: expect.stringContaining('"/v1/messages"'),
  });
  for (const reply of [status(200, page, html), status(200, { hello: 'world' })]) {
    server.reply(reply);
    expect(await failing()).toMatchObject({
      code: 'MODEL_RESPONSE_INVALID',
      message: expect.stringContaining('instead of an event stream'),
    });
  }
  server.reply(status(400, 'no'), status(400, JSON.stringify('no')));
  expect(await failing()).toMatchObject({ message: expect.stringContaining('HTTP 400, no') });
  expect(await failing()).toMatchObject({ message: expect.stringContaining('HTTP 400, no') });
});

test('a model that the server does not have', async () => {
  server.reply(status(404, errorBody('not_found_error', 'model: claude-tset')));
  expect(await failing()).toMatchObject({
    code: 'MODEL_NOT_FOUND',
    message: expect.stringContaining('model: claude-tset'),
    mend: expect.stringContaining('name of the model'),
  });
});

test('a response without a body is an empty stream', async () => {
  const fetch = (): Promise<Response> => Promise.resolve(new Response(null, { status: 200 }));
  expect(await failing({ fetch })).toMatchObject({
    code: 'MODEL_RESPONSE_INVALID',
    message: expect.stringContaining('the stream was empty'),
  });
});
