import {
  type LoopbackServer,
  loopbackServer,
  stalled,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, request, SEARCH } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { bare, call, calls, chunk, DONE, ROLE, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
  server.otherwise(streamed(...textAnswer('ok')));
});
afterEach(() => server.close());

const model = (options: Partial<VllmOptions> = {}) =>
  vllmModel({ baseUrl: server.baseUrl, model: 'm', ...options });
const bodies = () => server.received.map(({ body }) => body);

describe('the salt of a tenant', () => {
  const secret = 'a secret of the deployment';
  const saltsOf = async (of: string, tenants: readonly (string | undefined)[]) => {
    const one = model({ cacheSalt: { secret: of } });
    const before = server.received.length;
    for (const tenantId of tenants) {
      const differences = tenantId === undefined ? {} : { tenantId };
      await collected(one.stream(request(differences), never));
    }
    one.close();
    return bodies()
      .slice(before)
      .map((body) => body['cache_salt']);
  };

  test('is its own, always the same, and in the letters that vLLM takes', async () => {
    const salts = await saltsOf(secret, ['a', 'b', undefined, 'a']);
    expect(new Set(salts).size).toBe(3);
    expect(salts[3]).toBe(salts[0]);
    for (const salt of salts) expect(salt).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test('cannot be made without the secret, and is not sent without being asked for', async () => {
    const [own] = await saltsOf(secret, ['a']);
    const [other] = await saltsOf('another secret, as long', ['a']);
    expect(other).not.toBe(own);
    await collected(model().stream(request({ tenantId: 'a' }), never));
    expect(bodies().at(-1)).not.toHaveProperty('cache_salt');
  });
});

describe('load', () => {
  const metrics = (text: string) => status(200, text);

  test('is read from the metrics of vLLM, over all of its engines', async () => {
    server.reply(
      metrics(
        [
          '# HELP vllm:num_requests_running Number of requests.',
          '# TYPE vllm:num_requests_running gauge',
          'vllm:num_requests_running{engine="0",model_name="a b"} 3.0',
          'vllm:num_requests_running{engine="1",model_name="a b"} 1.0',
          'vllm:num_requests_running_other 9',
          'vllm:num_requests_waiting{engine="0"} 2',
          'vllm:kv_cache_usage_perc{engine="0"} 0.25',
          'vllm:kv_cache_usage_perc{engine="1"} 0.75',
        ].join('\n'),
      ),
    );
    expect(await model().load?.(never)).toEqual({ running: 4, waiting: 2, cacheUsage: 0.75 });
    expect(server.received[0]?.path).toBe('/metrics');
  });

  test('is read by the names of older and of other servers', async () => {
    server.reply(
      metrics(
        'vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:gpu_cache_usage_perc 0.5',
      ),
      metrics('llamacpp:requests_processing 2\nllamacpp:requests_deferred 1\n'),
      metrics(
        'sglang:num_running_reqs{a="}"} 8\nsglang:num_queue_reqs 4 17\nsglang:token_usage NaN',
      ),
    );
    expect(await model().load?.(never)).toEqual({ running: 0, waiting: 0, cacheUsage: 0.5 });
    expect(await model({ profile: 'llama.cpp' }).load?.(never)).toEqual({ running: 2, waiting: 1 });
    expect(await model({ profile: 'sglang' }).load?.(never)).toEqual({ running: 8, waiting: 4 });
  });

  test('is an error where the metrics are off, and not there where there are none', async () => {
    server.reply(metrics('# nothing'));
    expect(await failure(Promise.resolve(model().load?.(never)))).toMatchObject({
      code: 'MODEL_RESPONSE_INVALID',
      message: expect.stringContaining('vllm:num_requests_running'),
    });
    expect(model({ profile: 'ollama' }).load).toBeUndefined();
  });

  test('can be left', async () => {
    server.reply(stalled());
    const controller = new AbortController();
    const one = model();
    const asked = failure(Promise.resolve(one.load?.({ signal: controller.signal })));
    await server.requests(1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await asked).toBe(reason);
  });
});

describe('llama.cpp', () => {
  test('counts a request by its template, and then its tokens', async () => {
    server.reply(status(200, { prompt: '<s>Hello' }), status(200, { tokens: [1, 2, 3] }));
    const one = model({ profile: 'llama.cpp' });
    expect(await one.countTokens?.(request({ tools: [SEARCH] }), never)).toBe(3);
    expect(server.received.map(({ path }) => path)).toEqual(['/apply-template', '/tokenize']);
    expect(server.received[0]?.body).toMatchObject({
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [{ function: { name: 'workspace_search' } }],
    });
    expect(server.received[1]?.body).toEqual({
      content: '<s>Hello',
      add_special: true,
      parse_special: true,
    });
  });

  test('an answer in another shape is an error', async () => {
    server.reply(status(200, {}), status(200, { prompt: 'x' }), status(200, { count: 3 }));
    const one = model({ profile: 'llama.cpp' });
    for (const words of ['a prompt', 'a list of tokens']) {
      expect(await failure(Promise.resolve(one.countTokens?.(request(), never)))).toMatchObject({
        code: 'MODEL_RESPONSE_INVALID',
        message: expect.stringContaining(words),
      });
    }
  });

  test('tells its window beside its models; without it, nothing is known', async () => {
    const list = { data: [{ id: 'm', meta: { n_ctx_train: 8192 } }] };
    server.reply(
      status(200, list),
      status(200, { default_generation_settings: { n_ctx: 1024 } }),
      status(200, list),
      status(404, 'none'),
    );
    const one = model({ profile: 'llama.cpp' });
    await one.discover(never);
    expect(server.received.map(({ path }) => path)).toEqual(['/v1/models', '/props']);
    expect(one.capabilities().contextWindow).toBe(1024);
    const other = model({ profile: 'llama.cpp' });
    await other.discover(never);
    expect(other.capabilities().contextWindow).toBeUndefined();
  });
});

describe('Gemini', () => {
  const signature = { google: { thought_signature: 'sig' } };

  test('the signatures of calls are handed on whole, in the order of the calls', async () => {
    const signed = (index: number, more: object) => ({
      ...call({ index, id: `c${index}`, name: 'workspace_search', args: '{"q":"x"}' }),
      ...more,
    });
    server.reply(
      streamed(
        ROLE,
        chunk(calls(signed(0, {}))),
        chunk(calls(signed(1, { extra_content: signature }))),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    );
    const one = model({ profile: 'gemini' });
    const events = await collected(one.stream(request({ tools: [SEARCH] }), never));
    expect(events.at(-2)).toEqual({
      type: 'provider-state',
      state: { provider: 'gemini', value: { calls: [null, signature] } },
    });
  });

  test('its errors come in a list; an overflow has the numbers', async () => {
    const error = (message: string) =>
      status(400, JSON.stringify([{ error: { code: 400, message } }]));
    server.reply(
      error(
        'The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).',
      ),
      error('Function call is missing a thought_signature in functionCall parts.'),
    );
    const one = model({ profile: 'gemini' });
    expect(await failure(collected(one.stream(request(), never)))).toMatchObject({
      code: 'MODEL_CONTEXT_OVERFLOW',
      cause: { inputTokens: 1048580, window: 1048576, isExact: true },
    });
    expect(await failure(collected(one.stream(request(), never)))).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
      message: expect.stringContaining('HTTP 400, Function call is missing'),
    });
  });
});

test('what a selection asks for that is not here is known without asking anybody', () => {
  const one = model();
  expect(one.selectionProblem?.({ model: 'x', provider: 'vllm' })).toBeUndefined();
  expect(one.selectionProblem?.({ provider: 'openai' })).toContain('"openai"');
  expect(one.selectionProblem?.({ profile: 'fast' })).toContain('"fast"');
  expect(server.received).toHaveLength(0);
});

test('a part that cannot be sent is refused before the models are asked for', async () => {
  const parts = [
    {
      type: 'media',
      mediaType: 'application/pdf',
      source: { kind: 'inline', base64: 'QUJD' },
    },
  ] as const;
  const one = vllmModel({ baseUrl: server.baseUrl });
  const messages = [{ role: 'user', parts, origin: 'user' }] as const;
  expect(await failure(collected(one.stream(request({ messages }), never)))).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
  });
  expect(
    await failure(Promise.resolve(one.countTokens?.(request({ messages }), never))),
  ).toMatchObject({
    code: 'MODEL_REQUEST_INVALID',
  });
  expect(server.received).toHaveLength(0);
});

test('reasoning tokens and cache writes are in the usage', async () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const answer = { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }], usage };
  server.reply(status(200, answer));
  const events = await collected(model({ stream: false }).stream(request(), never));
  expect(events.at(-1)).toMatchObject({
    usage: {
      inputTokens: 9,
      outputTokens: 5,
      cachedInputTokens: 4,
      cacheWriteTokens: 2,
      reasoningTokens: 3,
    },
  });
});

test('C34: usage that a stream repeats is set, never added', async () => {
  const counted = (output: number) => ({ prompt_tokens: 9, completion_tokens: output });
  server.reply(
    streamed(
      bare({ choices: [{ index: 0, delta: { content: 'a' } }], usage: counted(1) }),
      bare({ choices: [{ index: 0, delta: { content: 'b' } }], usage: counted(2) }),
      chunk({}, 'stop'),
      bare({ choices: [], usage: counted(3) }),
      DONE,
    ),
  );
  const events = await collected(model().stream(request(), never));
  expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 9, outputTokens: 3 } });
});
