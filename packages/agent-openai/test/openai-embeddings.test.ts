import type { EmbeddingModel, JsonObject } from '@hexagent/agent-core';
import {
  type LoopbackServer,
  loopbackServer,
  type Reply,
  stalled,
  status,
} from '@hexagent/test-loopback';
import { failure, never, pausing } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenAiEmbeddingOptions, openaiEmbeddings } from '../src/index.ts';
import { textBatches } from '../src/text-batches.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

function model(options: Partial<OpenAiEmbeddingOptions> = {}): EmbeddingModel {
  return openaiEmbeddings({ baseUrl: server.baseUrl, apiKey: 'sk-1', retries: 0, ...options });
}

function base64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

/** Answers each text with its length, in the order and the form that a test wants. */
const lengths =
  (form: (vector: readonly number[]) => JsonObject[string], isReversed = false): Reply =>
  (response, received) => {
    const texts = received.body['input'] as readonly string[];
    const data = texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: form([text.length, 0.5]),
    }));
    const usage = { prompt_tokens: texts.length, total_tokens: texts.length };
    const sorted = isReversed ? data.toReversed() : data;
    const body = { object: 'list', data: sorted, model: 'text-embedding-test', usage };
    return status(200, body as unknown as JsonObject)(response, received);
  };

test('texts become vectors in their order, over as many requests as are needed', async () => {
  server.otherwise(lengths(base64, true));
  const {
    vectors,
    usage,
    model: name,
  } = await model({ batchSize: 2 }).embed({ texts: ['a', 'bb', 'ccc', 'dddd', 'eeeee'] }, never);
  expect(vectors.map(([length]) => length)).toEqual([1, 2, 3, 4, 5]);
  expect(vectors.every((vector) => vector instanceof Float32Array && vector.length === 2)).toBe(
    true,
  );
  expect(usage).toEqual({ inputTokens: 5 });
  expect(name).toBe('text-embedding-test');
  expect(server.received.map(({ path, body }) => [path, body['input']])).toEqual([
    ['/v1/embeddings', ['a', 'bb']],
    ['/v1/embeddings', ['ccc', 'dddd']],
    ['/v1/embeddings', ['eeeee']],
  ]);
  expect(server.received[0]?.body).toMatchObject({
    model: 'text-embedding-3-small',
    encoding_format: 'base64',
  });
});

test('a server that sends numbers is understood, whatever was asked', async () => {
  server.otherwise(lengths((vector) => vector));
  const options = { encoding: 'float', model: 'own', dimensions: 2 } as const;
  for (const asked of [model(), model(options)]) {
    const { vectors } = await asked.embed({ texts: ['ab'] }, never);
    expect(vectors).toEqual([Float32Array.from([2, 0.5])]);
  }
  expect(server.received[1]?.body).toEqual({
    model: 'own',
    input: ['ab'],
    encoding_format: 'float',
    dimensions: 2,
  });
});

test('a request says how long its vectors shall be', async () => {
  server.otherwise(lengths(base64));
  await model({ dimensions: 8 }).embed({ texts: ['a'], dimensions: 2 }, never);
  expect(server.received[0]?.body['dimensions']).toBe(2);
  expect(model({ dimensions: 8 }).dimensions).toBe(8);
  expect(model().dimensions).toBe(1536);
  expect(model({ model: 'own' })).not.toHaveProperty('dimensions');
});

test('nothing is asked for no text, and an empty text is refused before it is paid for', async () => {
  const { vectors, usage, model: name } = await model().embed({ texts: [] }, never);
  expect([vectors, usage, name]).toEqual([[], {}, 'text-embedding-3-small']);
  const error = await failure(model().embed({ texts: ['a', ''] }, never));
  expect(error).toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
  expect(String(error)).toContain('texts[1]');
  expect(server.received).toHaveLength(0);
});

describe('what is no answer', () => {
  const one = (embedding: JsonObject[string]) => ({ data: [{ index: 0, embedding }] });
  test.each([
    ['too few vectors', { data: [] }],
    [
      'the same index twice',
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [1] },
        ],
      },
    ],
    ['no list', { data: 'x' }],
    ['no numbers', one(['1'])],
    ['no vector', one(null)],
    ['an empty vector', one('')],
    ['half a number', one('QUI=')],
    ['no base64', one('%%')],
    ['no entry', { data: ['x'] }],
  ])('%s is an error', async (_, body) => {
    server.reply(status(200, body as JsonObject));
    const { data } = body as { data: unknown };
    const texts = Array.isArray(data) && data.length === 2 ? ['a', 'b'] : ['a'];
    const error = await failure(model().embed({ texts }, never));
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
  });

  test('vectors of two lengths, and text', async () => {
    server.reply(
      status(200, { data: [{ embedding: [1] }, { embedding: [1, 2] }] }),
      status(200, 'Welcome'),
    );
    for (const texts of [['a', 'b'], ['a']]) {
      const error = await failure(model().embed({ texts }, never));
      expect(error).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
    }
  });
});

test('each request is tried again by itself', async () => {
  const { clock, pauses } = pausing();
  server.reply(lengths(base64), status(503, 'busy'), lengths(base64));
  const asked = model({ batchSize: 1, retries: 1, clock, random: () => 0 });
  const { vectors } = await asked.embed({ texts: ['a', 'bb'] }, never);
  expect(vectors).toHaveLength(2);
  expect(pauses).toEqual([250]);
  server.reply(status(401, { error: { message: 'Wrong key sk-1' } }));
  const error = await failure(asked.embed({ texts: ['a'] }, never));
  expect(error).toMatchObject({ code: 'MODEL_AUTHENTICATION' });
  expect(String(error)).not.toContain('sk-1');
});

test('an abort is answered with its reason and closes the connection', async () => {
  const early = new AbortController();
  early.abort('early');
  expect(await failure(model().embed({ texts: ['a'] }, early))).toBe('early');
  server.reply(stalled());
  const controller = new AbortController();
  const pending = failure(model().embed({ texts: ['a'] }, controller));
  await server.requests(1);
  controller.abort('enough');
  expect(await pending).toBe('enough');
  expect(await server.received[0]?.ended).toBe('broken');
});

test('batches keep to the number of texts and to the bytes that a request may have', () => {
  const long = 'é'.repeat(100_000);
  expect(textBatches([], 2)).toEqual([]);
  expect(textBatches(['a', 'b', 'c'], 2)).toEqual([['a', 'b'], ['c']]);
  expect(textBatches([long, 'a', long, 'b'], 9)).toEqual([
    [long, 'a'],
    [long, 'b'],
  ]);
  const tooLong = long + long;
  expect(textBatches(['a', tooLong, 'b'], 9)).toEqual([['a'], [tooLong], ['b']]);
});
