import { AgentError } from '@hexagent/agent-core';
import {
  type LoopbackServer,
  loopbackServer,
  type Reply,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, pausing, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const google = (apiKey: NonNullable<VllmOptions['apiKey']>, more: Partial<VllmOptions> = {}) =>
  vllmModel({ baseUrl: server.baseUrl, profile: 'vertex', model: 'google/m', apiKey, ...more });

const keys = (): readonly (string | undefined)[] =>
  server.received.map(({ headers }) => headers.authorization);

/** Takes one token only, and repeats a wrong one in its refusal. */
const taking =
  (token: () => string): Reply =>
  (response, received) => {
    const { authorization } = received.headers;
    const reply =
      authorization === `Bearer ${token()}`
        ? streamed(...textAnswer('ok'))
        : status(401, JSON.stringify([{ error: { code: 401, message: `bad ${authorization}` } }]));
    return reply(response, received);
  };

test('a token is fetched once, and used until it is refused', async () => {
  let valid = 'token-1';
  let fetches = 0;
  server.otherwise(taking(() => valid));
  const model = google(async () => {
    fetches += 1;
    return valid;
  });
  await collected(model.stream(request(), never));
  await collected(model.stream(request(), never));
  expect(fetches).toBe(1);
  valid = 'token-2';
  await collected(model.stream(request(), never));
  expect(fetches).toBe(2);
  expect(keys()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  model.close();
});

test('many requests that are refused together fetch one new token', async () => {
  let valid = 'token-1';
  let fetches = 0;
  server.otherwise(taking(() => valid));
  const model = google(() => {
    fetches += 1;
    return valid;
  });
  await collected(model.stream(request(), never));
  valid = 'token-2';
  await Promise.all(Array.from({ length: 8 }, () => collected(model.stream(request(), never))));
  expect(fetches).toBe(2);
  model.close();
});

test('a token that is refused twice is an error without the token in it', async () => {
  let count = 0;
  server.otherwise(taking(() => 'never this one'));
  const model = google(() => {
    count += 1;
    return `secret-token-${count}`;
  });
  const error = await failure(collected(model.stream(request(), never)));
  expect(error).toMatchObject({ code: 'MODEL_AUTHENTICATION', retryable: false });
  expect(String(error)).toContain('bad Bearer ***');
  expect(String(error)).not.toContain('secret-token');
  expect(keys()).toEqual(['Bearer secret-token-1', 'Bearer secret-token-2']);
  model.close();
});

test('a function that fails, or gives no token, is an error before anything is sent', async () => {
  const broken = google(() => {
    throw new Error('no metadata server');
  });
  expect(await failure(collected(broken.stream(request(), never)))).toMatchObject({
    code: 'MODEL_AUTHENTICATION',
    message: expect.stringContaining('no metadata server'),
  });
  const odd = google(() => Promise.reject('down'));
  expect(await failure(collected(odd.stream(request(), never)))).toMatchObject({
    message: expect.stringContaining('failed: down'),
  });
  const empty = google(() => 'a\nb');
  expect(await failure(collected(empty.stream(request(), never)))).toMatchObject({
    code: 'MODEL_AUTHENTICATION',
    message: expect.stringContaining('gave no text'),
  });
  expect(server.received).toHaveLength(0);
});

test('what may pass is tried again, by the word of the function', async () => {
  let count = 0;
  server.otherwise(taking(() => 'late'));
  const model = google(
    () => {
      count += 1;
      if (count > 1) return 'late';
      throw new AgentError('MODEL_OVERLOADED', { message: 'busy', mend: 'wait', retryable: true });
    },
    { random: () => 0, clock: pausing().clock },
  );
  await collected(model.stream(request(), never));
  expect(count).toBe(2);
  model.close();
});

test('who waits for a token can leave', async () => {
  const model = google(() => new Promise(() => undefined));
  const controller = new AbortController();
  const waiting = failure(collected(model.stream(request(), { signal: controller.signal })));
  const reason = new Error('enough');
  controller.abort(reason);
  expect(await waiting).toBe(reason);
});

test('a token that never comes is a timeout of the connection', async () => {
  const model = google(() => new Promise(() => undefined), {
    timeouts: { connectMs: 1 },
    retries: 0,
  });
  expect(await failure(collected(model.stream(request(), never)))).toMatchObject({
    code: 'MODEL_TIMEOUT',
  });
});
