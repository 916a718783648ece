import { overflowOf } from '@hexagent/agent-core/adapter';
import {
  type LoopbackServer,
  loopbackServer,
  stalled,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, request } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { bare, chunk, DONE, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const refused = (message: string) =>
  status(400, { error: { message, type: 'BadRequestError', param: 'input_tokens', code: 400 } });
/** vLLM, whose count of the prompt is cut off where it knows enough. */
const atLeast = (output: number, input: number, window = 1000) =>
  refused(
    `This model's maximum context length is ${window} tokens. However, you requested ${output} output tokens and your ` +
      `prompt contains at least ${input} input tokens, for a total of at least ${output + input} tokens.`,
  );
const exactly = (output: number, input: number, window = 1000) =>
  refused(
    `This model's maximum context length is ${window} tokens. However, you requested ${output} output tokens and your ` +
      `prompt contains ${input} input tokens, for a total of ${output + input} tokens.`,
  );
const counted = (count: number) => status(200, { count, max_model_len: 1000 });
const ok = streamed(...textAnswer('ok'));

const model = (options: Partial<VllmOptions> = {}) =>
  vllmModel({ baseUrl: server.baseUrl, model: 'm', retries: 0, ...options });
const asked = (maxTokens?: number) =>
  request(maxTokens === undefined ? {} : { sampling: { maxTokens } });
const seen = (): readonly unknown[] =>
  server.received.map(({ path, body }) => [path, body['max_completion_tokens']]);

describe('a prompt that fits, and an output that does not', () => {
  test('is sent again with as many tokens as there is room for', async () => {
    server.reply(exactly(900, 300), ok);
    const events = await collected(model().stream(asked(900), never));
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
    expect(seen()).toEqual([
      ['/v1/chat/completions', 900],
      ['/v1/chat/completions', 700],
    ]);
  });

  test('is counted first where the server says "at least"', async () => {
    server.reply(atLeast(900, 101), counted(300), ok);
    const one = model();
    await collected(one.stream(asked(900), never));
    expect(seen()).toEqual([
      ['/v1/chat/completions', 900],
      ['/tokenize', undefined],
      ['/v1/chat/completions', 700],
    ]);
    expect(one.capabilities().contextWindow).toBe(1000);
  });

  test('is counted where the server looks at the output alone', async () => {
    server.reply(
      status(400, {
        error: { message: 'max_completion_tokens=5000 cannot be greater than max_model_len=1000' },
      }),
      counted(300),
      ok,
    );
    await collected(model().stream(asked(5000), never));
    expect(seen().at(-1)).toEqual(['/v1/chat/completions', 700]);
  });

  test('is tried once: another refusal is the end', async () => {
    server.reply(exactly(900, 300), exactly(700, 301));
    expect(await failure(collected(model().stream(asked(900), never)))).toMatchObject({
      code: 'MODEL_CONTEXT_OVERFLOW',
    });
    expect(server.received).toHaveLength(2);
  });
});

describe('an error with its numbers', () => {
  test('where too little room is left, or none', async () => {
    server.reply(exactly(900, 800), exactly(900, 1200), exactly(100, 950));
    for (const { tokens, numbers } of [
      { tokens: 900, numbers: { inputTokens: 800, outputTokens: 900, window: 1000 } },
      { tokens: 900, numbers: { inputTokens: 1200, outputTokens: 900, window: 1000 } },
      { tokens: 100, numbers: { inputTokens: 950, outputTokens: 100, window: 1000 } },
    ]) {
      const error = await failure(collected(model().stream(asked(tokens), never)));
      expect(overflowOf(error)).toMatchObject({ ...numbers, isExact: true });
    }
    expect(server.received).toHaveLength(3);
  });

  test('the least room is an option', async () => {
    server.reply(exactly(900, 990), ok, exactly(900, 300));
    await collected(model({ minOutputTokens: 10 }).stream(asked(900), never));
    expect(seen().at(-1)).toEqual(['/v1/chat/completions', 10]);
    const never256 = model({ minOutputTokens: Number.POSITIVE_INFINITY });
    await collected(model({ minOutputTokens: 1 }).stream(asked(1), never)).catch(() => undefined);
    server.reply(exactly(900, 800));
    expect(await failure(collected(never256.stream(asked(900), never)))).toMatchObject({
      code: 'MODEL_CONTEXT_OVERFLOW',
    });
  });

  test('a prompt that is too long is counted, so that whoever shortens it knows by how much', async () => {
    server.reply(atLeast(1, 1000), counted(5000));
    const error = await failure(collected(model().stream(asked(), never)));
    expect(overflowOf(error)).toMatchObject({ inputTokens: 5000, window: 1000, isExact: true });
    expect(String(error)).toContain('the prompt has 5000 tokens and 1 tokens of output');
  });

  test('nothing is tried where nobody can count, or the counting fails', async () => {
    server.reply(atLeast(900, 101), atLeast(900, 101), status(500, 'broken'));
    const uncounted = await failure(
      collected(model({ profile: 'openai-compatible' }).stream(asked(900), never)),
    );
    expect(overflowOf(uncounted)).toMatchObject({ isExact: false });
    const broken = await failure(collected(model().stream(asked(900), never)));
    expect(overflowOf(broken)).toMatchObject({ isExact: false });
    expect(server.received).toHaveLength(3);
  });

  test('an abort while it is counted is answered with its reason', async () => {
    server.reply(atLeast(900, 101), stalled());
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = failure(collected(model().stream(asked(900), { signal })));
    await server.requests(2);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await waiting).toBe(reason);
  });
});

describe('an answer that ends for its length', () => {
  const used = (prompt_tokens: number, completion_tokens: number) =>
    streamed(
      chunk({ content: 'a' }, 'length'),
      bare({ choices: [], usage: { prompt_tokens, completion_tokens } }),
      DONE,
    );
  test.each([
    ['one token', 999, 1],
    ['none', 1000, 0],
  ])('after %s, in a window that its prompt fills, is an overflow', async (_, input, output) => {
    server.reply(used(input, output));
    const error = await failure(collected(model({ contextWindow: 1000 }).stream(asked(), never)));
    expect(error).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', retryable: false });
    expect(overflowOf(error)).toEqual({
      kind: 'context-overflow',
      window: 1000,
      inputTokens: input,
      outputTokens: output,
      isExact: true,
    });
    expect(String(error)).toContain(`the prompt of ${input} tokens fills the window of 1000`);
  });

  test.each([
    ['says something', used(900, 100), undefined, 1000],
    ['has all that was asked for', used(999, 1), 1, 1000],
    ['leaves room', used(10, 1), undefined, 1000],
    ['comes without usage', streamed(chunk({}, 'length'), DONE), undefined, 1000],
    ['comes from a window that nobody knows', used(999, 1), undefined, undefined],
  ])('is an answer, cut, where it %s', async (_, reply, maxTokens, contextWindow) => {
    server.reply(reply);
    const one = model(contextWindow === undefined ? {} : { contextWindow });
    const events = await collected(one.stream(asked(maxTokens), never));
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
  });
});
