import {
  type LoopbackServer,
  loopbackServer,
  stalled,
  status,
  streamed,
} from '@hexagent/test-loopback';
import {
  collected,
  failure,
  never,
  pausing,
  request,
  SEARCH,
} from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { call, calls, chunk, DONE, ROLE, textAnswer, USAGE } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const model = (more: Partial<VllmOptions> = {}) =>
  vllmModel({ baseUrl: server.baseUrl, clock: pausing().clock, random: () => 0, ...more });

const MODELS = {
  object: 'list',
  data: [
    { id: 'first', max_model_len: 4096 },
    { id: 'second', context_length: 8192 },
    { id: 'third', meta: { n_ctx: 2048 } },
    { id: 'fourth' },
    'not a model',
  ],
};

test('connects to nothing before it is asked', async () => {
  model();
  expect(server.received).toHaveLength(0);
});

describe('the model', () => {
  test('is the first of the server when none is named, asked for once', async () => {
    server.reply(status(200, MODELS), streamed(...textAnswer('a')), streamed(...textAnswer('b')));
    const one = model();
    expect(one.capabilities()).not.toHaveProperty('contextWindow');
    await collected(one.stream(request(), never));
    await collected(one.stream(request(), never));
    expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/models',
      'POST /v1/chat/completions',
      'POST /v1/chat/completions',
    ]);
    expect(server.received.at(-1)?.body['model']).toBe('first');
    expect(one.capabilities()).toMatchObject({ contextWindow: 4096 });
    const windows = ['second', 'third', 'fourth'].map(
      (name) => one.capabilities({ model: name }).contextWindow,
    );
    expect(windows).toEqual([8192, 2048, undefined]);
  });

  test('of the options loses against the one that a run selects', async () => {
    server.otherwise(streamed(...textAnswer('a')));
    const one = model({ model: 'ours' });
    await collected(one.stream(request(), never));
    await collected(
      one.stream(request({ selection: { provider: 'vllm', model: 'theirs' } }), never),
    );
    expect(server.received.map(({ body }) => body['model'])).toEqual(['ours', 'theirs']);
  });

  test('a selection of what this adapter has not is refused', async () => {
    const one = model({ model: 'm' });
    for (const selection of [{ provider: 'openai' }, { profile: 'fast' }]) {
      expect(await failure(collected(one.stream(request({ selection }), never)))).toMatchObject({
        code: 'MODEL_REQUEST_INVALID',
      });
    }
    expect(server.received).toHaveLength(0);
  });

  test('a server without models, or without a list of them, is a clear error', async () => {
    server.reply(status(200, { data: [] }), status(200, { hello: 'world' }), status(200, 'hello'));
    const one = model();
    expect(await failure(collected(one.stream(request(), never)))).toMatchObject({
      code: 'MODEL_NOT_FOUND',
      message: expect.stringContaining('lists no model'),
    });
    for (let count = 0; count < 2; count += 1) {
      expect(await failure(collected(one.stream(request(), never)))).toMatchObject({
        code: 'MODEL_RESPONSE_INVALID',
        message: expect.stringContaining('list of models'),
      });
    }
  });

  test('an abort while the models are asked for is answered with its reason', async () => {
    server.reply(stalled());
    const controller = new AbortController();
    const answer = failure(collected(model().stream(request(), { signal: controller.signal })));
    await server.requests(1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await answer).toBe(reason);
    expect(await server.received[0]?.ended).toBe('broken');
  });
});

test('leaving while the models are asked for, or a prompt is counted, ends that question', async () => {
  const message = "This model's maximum context length is 9 tokens, of at least 10 input tokens.";
  const overflow = status(400, { error: { message, param: 'input_tokens', code: 400 } });
  for (const [options, replies] of [
    [{}, [stalled()]],
    [{ model: 'm' }, [overflow, stalled()]],
  ] as const) {
    const before = server.received.length;
    server.reply(...replies);
    const reading = model(options).stream(request(), never)[Symbol.asyncIterator]();
    const pending = reading.next();
    await server.requests(before + replies.length);
    await reading.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await server.received.at(-1)?.ended).toBe('broken');
  }
  expect(server.received.map(({ path }) => path)).toEqual([
    '/v1/models',
    '/v1/chat/completions',
    '/tokenize',
  ]);
});

test('capabilities follow the options and the profile', () => {
  const named = model({ model: 'm', contextWindow: 9, inputModalities: ['text', 'image'] });
  expect(named.capabilities()).toEqual({
    model: 'm',
    contextWindow: 9,
    tools: true,
    reasoning: true,
    structuredOutput: 'final-only',
    inputModalities: ['text', 'image'],
  });
  expect(model({ profile: 'openrouter' }).capabilities().structuredOutput).toBe('with-tools');
  expect(model({ profile: 'sglang' }).id).toBe('sglang');
  expect(model().capabilities()).not.toHaveProperty('model');
  expect(model().capabilities({ model: 'n' }).model).toBe('n');
});

test('a server goes by the name that it is given: selections and opaque state', async () => {
  const east = model({ id: 'east', profile: 'openrouter', model: 'm' });
  expect(east).toMatchObject({ id: 'east', address: server.baseUrl });
  expect(east.selectionProblem?.({ provider: 'east' })).toBeUndefined();
  expect(east.selectionProblem?.({ provider: 'openrouter' })).toContain('this is "east"');
  const details = [{ type: 'reasoning.text', text: 'Hm.', index: 0 }];
  server.reply(
    streamed(chunk({ reasoning: 'Hm.', reasoning_details: details }), chunk({}, 'stop'), DONE),
  );
  const events = await collected(east.stream(request(), never));
  expect(events.find(({ type }) => type === 'provider-state')).toMatchObject({
    state: { provider: 'east' },
  });
});

test('the address shows no credentials', () => {
  const { address } = vllmModel({ baseUrl: 'http://user:word@m/v1/' });
  expect(address).toBe('http://m/v1');
});

describe('countTokens', () => {
  test('asks /tokenize beside /v1, with tools and template, and learns the window', async () => {
    server.reply(
      status(200, { count: 42, max_model_len: 512, tokens: [] }),
      status(200, { count: 7 }),
    );
    const one = model({ model: 'm', chatTemplateKwargs: { enable_thinking: false } });
    expect(await one.countTokens?.(request({ tools: [SEARCH] }), never)).toBe(42);
    expect(await one.countTokens?.(request(), never)).toBe(7);
    expect(server.received[0]).toMatchObject({
      path: '/tokenize',
      body: {
        model: 'm',
        add_generation_prompt: true,
        tools: [{ function: { name: 'workspace_search' } }],
        chat_template_kwargs: { enable_thinking: false },
        messages: [{ role: 'user', content: 'Hello' }],
      },
    });
    expect(server.received[1]?.body).not.toHaveProperty('tools');
    expect(one.capabilities().contextWindow).toBe(512);
  });

  test('a server without /tokenize is told apart by its profile, and the error says so', async () => {
    server.reply(status(404, '<html><h1>404</h1></html>', { 'content-type': 'text/html' }));
    const counting = model({ model: 'm' }).countTokens?.(request(), never);
    await expect(counting).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
      mend: expect.stringContaining('profile'),
    });
  });

  test('is not there for servers that cannot count a request', () => {
    expect(model({ profile: 'ollama' }).countTokens).toBeUndefined();
  });

  test('an answer without a count is an error; so is one that breaks', async () => {
    server.reply(status(200, { tokens: [] }), async (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' });
      response.write('{"count":');
      await new Promise((resolve) => setImmediate(resolve));
      response.socket?.resetAndDestroy();
    });
    const one = model({ model: 'm', retries: 0 });
    expect(await failure(one.countTokens?.(request(), never) ?? Promise.resolve())).toMatchObject({
      code: 'MODEL_RESPONSE_INVALID',
    });
    expect(await failure(one.countTokens?.(request(), never) ?? Promise.resolve())).toMatchObject({
      code: 'MODEL_STREAM_TRUNCATED',
    });
  });
});

describe('a whole answer instead of a stream', () => {
  const completion = {
    object: 'chat.completion',
    model: 'served',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Well.',
          reasoning_content: 'hm',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'workspace_search', arguments: '{"q":"x"}' },
            },
          ],
        },
      },
    ],
    usage: {
      ...USAGE,
      prompt_tokens_details: { cached_tokens: 4, created_cache_tokens: 2 },
    },
  };

  test('is asked for with stream: false, and read as one batch', async () => {
    server.reply(status(200, completion));
    const events = await collected(
      model({ model: 'm', stream: false }).stream(request({ tools: [SEARCH] }), never),
    );
    expect(events).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Well.' },
      { type: 'tool-call-start', index: 0, providerCallId: 'c1', name: 'workspace.search' },
      { type: 'tool-call-delta', index: 0, delta: '{"q":"x"}' },
      {
        type: 'finish',
        reason: 'tool-calls',
        usage: { inputTokens: 9, outputTokens: 3, cachedInputTokens: 4, cacheWriteTokens: 2 },
        model: 'served',
      },
    ]);
    expect(server.received[0]?.headers.accept).toBe('application/json');
  });

  test('may come although a stream was asked for; so may an error with status 200', async () => {
    server.reply(
      status(200, completion),
      status(200, { error: { message: 'the context size is exceeded' } }),
      status(200, '[]', { 'content-type': 'application/json' }),
      status(200, '{"half":', { 'content-type': 'application/json' }),
      status(200, textAnswer('late').join(''), { 'content-type': 'application/json' }),
    );
    const one = model({ model: 'm', retries: 0, profile: 'openai-compatible' });
    expect((await collected(one.stream(request(), never))).at(-1)).toMatchObject({
      type: 'finish',
    });
    const codes = [];
    for (let count = 0; count < 3; count += 1) {
      codes.push(await failure(collected(one.stream(request(), never))));
    }
    expect(codes).toMatchObject([
      { code: 'MODEL_CONTEXT_OVERFLOW' },
      { code: 'MODEL_RESPONSE_INVALID' },
      { code: 'MODEL_RESPONSE_INVALID' },
    ]);
    expect(await collected(one.stream(request(), never))).toMatchObject([
      { type: 'text', text: 'late' },
      { type: 'finish' },
    ]);
  });
});

describe('C33: parallel calls over a real socket', () => {
  test('two calls with index 0, a repeated name and a call without arguments', async () => {
    server.reply(
      streamed(
        ROLE,
        chunk(calls(call({ index: 0, id: 'a', name: 'workspace_search', args: '' }))),
        chunk(calls(call({ index: 0, id: 'a', name: 'workspace_search', args: '{"q":"1"}' }))),
        chunk(calls(call({ index: 0, id: 'b', name: 'now', args: null }))),
        chunk(calls(call({ index: 0, id: 'c', name: 'workspace_search', args: '{"q":"2"}' }))),
        chunk({}, 'stop'),
        DONE,
      ),
    );
    const tools = [SEARCH, { ...SEARCH, name: 'now' }];
    const events = await collected(model({ model: 'm' }).stream(request({ tools }), never));
    expect(events.filter(({ type }) => type === 'tool-call-start')).toMatchObject([
      { index: 0, providerCallId: 'a', name: 'workspace.search' },
      { index: 1, providerCallId: 'b', name: 'now' },
      { index: 2, providerCallId: 'c', name: 'workspace.search' },
    ]);
    const text = (index: number): string =>
      events
        .map((event) =>
          event.type === 'tool-call-delta' && event.index === index ? event.delta : '',
        )
        .join('');
    expect([text(0), text(1), text(2)]).toEqual(['{"q":"1"}', '{}', '{"q":"2"}']);
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' });
  });
});

test.each(['length', 'tool_calls'])(
  'C31: arguments that were cut and the reason "%s" are an answer that was cut',
  async (reason) => {
    const cut = '{"path":"/etc/hosts","content":"line1';
    server.reply(
      streamed(
        ROLE,
        chunk(calls(call({ index: 0, id: 'a', name: 'w', args: cut }))),
        chunk({}, reason),
        DONE,
      ),
    );
    const events = await collected(model({ model: 'm' }).stream(request(), never));
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
    expect(events).toContainEqual({ type: 'tool-call-delta', index: 0, delta: cut });
  },
);

test('C35: an output schema and tools together keep the tools callable', async () => {
  server.reply(streamed(...textAnswer('{}')));
  const output = { name: 'answer', schema: { type: 'object' } };
  const one = model({ model: 'm' });
  expect(one.capabilities().structuredOutput).toBe('final-only');
  await collected(one.stream(request({ tools: [SEARCH], output }), never));
  expect(server.received[0]?.body).toHaveProperty('tools');
  expect(server.received[0]?.body).not.toHaveProperty('response_format');
});

test("OpenRouter's reasoning details come back whole, as the state of the provider", async () => {
  const detail = (more: object) => ({
    reasoning_details: [{ type: 'reasoning.text', index: 0, ...more }],
  });
  server.reply(
    streamed(
      chunk({ reasoning: 'th', ...detail({ text: 'th', format: 'f' }) }),
      chunk({ reasoning: 'ink', ...detail({ text: 'ink', signature: null }) }),
      chunk({ reasoning_details: ['odd', { type: 'reasoning.text', index: 0, signature: 's' }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'x' }] }),
      chunk({ content: 'ok' }, 'stop'),
      DONE,
    ),
  );
  const events = await collected(
    model({ model: 'm', profile: 'openrouter' }).stream(request(), never),
  );
  expect(events.at(-2)).toEqual({
    type: 'provider-state',
    state: {
      provider: 'openrouter',
      value: [
        { type: 'reasoning.text', index: 0, text: 'think', format: 'f', signature: 's' },
        { type: 'reasoning.encrypted', index: 1, data: 'x' },
      ],
    },
  });
});

test('reads what only some servers send', async () => {
  server.reply(
    streamed(
      '\uFEFF',
      chunk({ content: [{ type: 'text', text: 'par' }, 'x', { type: 'image' }] }),
      chunk({ function_call: { name: 'old', arguments: '{}' } }),
      chunk({ tool_calls: ['x', { index: 1, id: 'b' }] }),
      chunk({ tool_calls: [{ index: 1, function: { name: 'late', arguments: '{}' } }] }),
      'data: 7\n\ndata: {"choices":["x"]}\n\nretry: x\n\n',
      chunk({}, 'function_call'),
      DONE,
      chunk({ content: 'after the end' }),
    ),
  );
  const events = await collected(model({ model: 'm' }).stream(request(), never));
  expect(events.map(({ type }) => type)).toEqual([
    'text',
    'tool-call-start',
    'tool-call-delta',
    'tool-call-start',
    'tool-call-delta',
    'finish',
  ]);
});

test.each([
  ['max_tokens', 'length'],
  ['repetition', 'length'],
  ['content_filter', 'content-filter'],
  ['eos', 'stop'],
])('the reason "%s" is %s', async (said, reason) => {
  server.reply(streamed(ROLE, chunk({ content: 'a' }, said), DONE));
  const events = await collected(model({ model: 'm' }).stream(request(), never));
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason });
});

test('the schemas of fifty concurrent requests stay with their requests', async () => {
  server.otherwise((response, received) =>
    streamed(...textAnswer(JSON.stringify(received.body['tools'])))(response, received),
  );
  const one = model({ model: 'm' });
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const tools = [{ ...SEARCH, name: `tool.${index}` }];
      const { signal } = new AbortController();
      const events = await collected(one.stream(request({ tools }), { signal }));
      return events.find((event) => event.type === 'text');
    }),
  );
  answers.forEach((event, index) => {
    expect(event).toMatchObject({ text: expect.stringContaining(`"tool_${index}"`) });
  });
});
