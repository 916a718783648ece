import { getEventListeners } from 'node:events';
import {
  AgentError,
  type AgentModel,
  type Message,
  type ModelEvent,
  type Part,
} from '@hexagent/agent-core';
import { type Clock, modelUnreachable, overflowOf } from '@hexagent/agent-core/adapter';
import { fakeClock } from '@hexagent/agent-core/testing';
import {
  type LoopbackServer,
  loopbackServer,
  reset,
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
  said,
  until,
} from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenAiOptions, openaiModel } from '../src/index.ts';
import { callChunk, chunk, DONE, ROLE } from './fixtures/chat-frames.ts';
import { NEUTRAL_USAGE, ResponsesFrames, USAGE } from './fixtures/responses-frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const KEY = 'sk-secret-0123456789';

function model(options: Partial<OpenAiOptions> = {}): AgentModel {
  return openaiModel({ baseUrl: server.baseUrl, apiKey: KEY, model: 'm', retries: 0, ...options });
}

const frames = (): ResponsesFrames => new ResponsesFrames();
const hello = streamed(...frames().message(['Hel', 'lo']).completed(USAGE));
const DEPTH = {
  name: 'workspace.list',
  description: 'List.',
  parameters: { type: 'object', properties: { depth: { type: 'integer' } } },
} as const;
const answer = (schema: object) => ({ output: { name: 'answer', schema: schema as never } });

async function failed(options: Partial<OpenAiOptions> = {}): Promise<AgentError> {
  const error = await failure(collected(model(options).stream(request(), never)));
  if (!AgentError.is(error)) throw new Error(`not an AgentError: ${String(error)}`);
  return error;
}

describe('a request', () => {
  test('goes to the endpoint of its API, with the key and the id of the request', async () => {
    server.reply(hello, streamed(ROLE, chunk({ content: 'ok' }), chunk({}, 'stop'), DONE));
    const options = { organization: 'org', project: 'proj', headers: { 'x-title': 'Hexagent' } };
    const events = await collected(model(options).stream(request(), never));
    expect(events.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      usage: NEUTRAL_USAGE,
      model: 'gpt-test-2026-01-01',
    });
    await collected(model({ api: 'chat' }).stream(request(), never));
    const [responses, chat] = server.received;
    expect(responses).toMatchObject({
      method: 'POST',
      path: '/v1/responses',
      headers: {
        authorization: `Bearer ${KEY}`,
        'openai-organization': 'org',
        'openai-project': 'proj',
        'x-title': 'Hexagent',
        'x-client-request-id': 'r1',
      },
      body: { model: 'm', stream: true },
    });
    expect(chat).toMatchObject({ path: '/v1/chat/completions', body: { model: 'm' } });
  });

  test('of a run that selects another model asks for that one; what is foreign is refused before any I/O', async () => {
    server.reply(hello);
    await collected(
      model().stream(request({ selection: { model: 'n', provider: 'openai' } }), never),
    );
    expect(server.received[0]?.body['model']).toBe('n');
    for (const selection of [{ provider: 'anthropic' }, { profile: 'fast' }]) {
      const error = await failure(collected(model().stream(request({ selection }), never)));
      expect(error).toMatchObject({ code: 'MODEL_REQUEST_INVALID' });
      expect(model().selectionProblem?.(selection)).toMatch(/anthropic|fast/);
    }
    expect(model().selectionProblem?.({ model: 'n' })).toBeUndefined();
    expect(server.received).toHaveLength(1);
  });

  test('goes by the name that it is given: selections, reasoning and capabilities', async () => {
    const east = model({ id: 'east', reasoning: {} });
    expect(east).toMatchObject({ id: 'east', address: server.baseUrl });
    expect(east.capabilities().model).toBe('m');
    expect(east.capabilities({ model: 'n' }).model).toBe('n');
    expect(east.selectionProblem?.({ provider: 'east' })).toBeUndefined();
    expect(east.selectionProblem?.({ provider: 'openai' })).toBe(
      'the provider "openai" is selected, and this is "east"',
    );
    server.reply(
      streamed(...frames().reasoning(['Hm.'], { encrypted: 'sealed' }).message(['Hi']).completed()),
    );
    const events = await collected(east.stream(request(), never));
    const state = events.find((event) => event.type === 'provider-state')?.state;
    expect(state?.provider).toBe('east');
    // What another provider has sealed is not sent to this one.
    server.otherwise(hello);
    const sealed = async (provider: string): Promise<boolean> => {
      const thought = { type: 'reasoning', text: '', provider: { ...state, provider } } as Part;
      const turn = {
        role: 'assistant',
        origin: 'model',
        parts: [thought, ...said('assistant', 'Hi').parts],
      };
      const messages = [said('user', 'Hi'), turn as Message, said('user', 'And?')];
      await collected(east.stream(request({ messages }), never));
      return JSON.stringify(server.received.at(-1)?.body['input']).includes('sealed');
    };
    expect([await sealed('east'), await sealed('openai')]).toEqual([true, false]);
  });

  test('can be asked with a key that is made anew, which is a secret then', async () => {
    let count = 0;
    const apiKey = async () => {
      count += 1;
      return `sk-made-${count}`;
    };
    const refuses = status(401, { error: { message: 'Wrong key: sk-made-2', code: 'x' } });
    server.reply(hello, refuses);
    const asked = model({ apiKey });
    await collected(asked.stream(request(), never));
    const error = await failure(collected(asked.stream(request(), never)));
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-made-1',
      'Bearer sk-made-2',
    ]);
    expect(String(error)).toContain('Wrong key: ***');
    const broken = await failed({ apiKey: () => Promise.reject(new Error('no vault')) });
    expect(broken).toMatchObject({ code: 'MODEL_AUTHENTICATION' });
    expect(broken.message).toContain('no vault');
    const wrong = await failed({ apiKey: async () => 'sk-9\n' });
    expect(wrong).toMatchObject({ code: 'MODEL_AUTHENTICATION', retryable: false });
    expect(wrong.message).toContain('gave no text that a header can carry');
    const kept = modelUnreachable({ at: 'vault', reason: 'down' });
    expect(await failed({ apiKey: () => Promise.reject(kept) })).toBe(kept);
  });

  test('needs no key where the headers say who asks', async () => {
    server.reply(hello);
    await collected(
      model({ apiKey: '', headers: { 'api-key': 'azure' } }).stream(request(), never),
    );
    expect(server.received[0]?.headers).toMatchObject({ 'api-key': 'azure' });
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  test('goes through the fetch that is given', async () => {
    server.reply(hello);
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      urls.push(String(url));
      return globalThis.fetch(url, init);
    };
    await collected(model({ fetch }).stream(request(), never));
    expect(urls).toEqual([`${server.baseUrl}/responses`]);
  });

  test('is tried again before the first event only', async () => {
    const { clock, pauses } = pausing();
    const busy = status(503, 'busy', { 'retry-after-ms': '7' });
    server.reply(busy, status(500, 'oops'), hello);
    const tried = model({ retries: 2, clock, random: () => 0 });
    expect((await collected(tried.stream(request(), never))).at(-1)?.type).toBe('finish');
    expect(pauses).toEqual([7, 500]);
    server.reply(streamed(...frames().message(['par']).pieces));
    const error = await failure(collected(tried.stream(request(), never)));
    expect(error).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
    expect(server.received).toHaveLength(4);
  });
});

describe('what strict schemas made the model write', () => {
  test('comes back as the original schemas want it, also over chat completions', async () => {
    const expected = [
      { type: 'tool-call-start', index: 0, providerCallId: 'call_0', name: 'workspace.list' },
      { type: 'tool-call-start', index: 1, providerCallId: 'call_1', name: 'workspace.search' },
      { type: 'tool-call-delta', index: 1, delta: '{"q":"x"}' },
      { type: 'tool-call-delta', index: 0, delta: '{}' },
    ];
    server.reply(
      streamed(
        ...frames()
          .call('workspace_list', ['{"dep', 'th":null}'])
          .call('workspace_search', ['{"q":"x"}'])
          .completed(),
      ),
      streamed(
        callChunk(0, '{"depth":', { id: 'call_0', name: 'workspace_list' }),
        callChunk(0, 'null}'),
        callChunk(1, '{"q":"x"}', { id: 'call_1', name: 'workspace_search' }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    );
    // A response says when a call is complete; over chat completions that is known at the end.
    const [list, search, found, listed] = expected;
    for (const api of ['responses', 'chat'] as const) {
      const asked = request({ tools: [DEPTH, SEARCH] });
      const events = await collected(model({ api }).stream(asked, never));
      expect(events.slice(0, -1)).toEqual(
        api === 'chat' ? expected : [list, listed, search, found],
      );
      expect(events.at(-1)).toMatchObject({ reason: 'tool-calls' });
    }
  });

  test('arguments that were cut stay as they are, and are never run', async () => {
    server.reply(
      streamed(
        ...frames().openCall('workspace_list', ['{"depth":']).incomplete('max_output_tokens'),
      ),
    );
    const events = await collected(model().stream(request({ tools: [DEPTH] }), never));
    expect(events.slice(1)).toMatchObject([{ delta: '{"depth":' }, { reason: 'length' }]);
  });

  test('an output with optional members, and one that is no object, come whole', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const list = { type: 'array', items: { type: 'string' } };
    server.reply(
      streamed(...frames().message(['{"a":', 'null}']).completed()),
      streamed(...frames().message(['{"value":', '["x"]}']).completed()),
      streamed(chunk({ content: '{"a":' }), chunk({ content: 'null}' }), chunk({}, 'stop'), DONE),
      streamed(...frames().message(['{"a":', 'n']).incomplete('max_output_tokens')),
    );
    const texts = async (asked: object, api: 'responses' | 'chat' = 'responses') =>
      (await collected(model({ api }).stream(request(asked), never))).filter(
        (event) => event.type === 'text',
      );
    expect(await texts(answer(schema))).toEqual([{ type: 'text', text: '{}' }]);
    expect(await texts(answer(list))).toEqual([{ type: 'text', text: '["x"]' }]);
    expect(await texts(answer(schema), 'chat')).toEqual([{ type: 'text', text: '{}' }]);
    expect(await texts(answer(schema))).toEqual([{ type: 'text', text: '{"a":n' }]);
  });

  test('an output without them streams', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    server.reply(streamed(...frames().message(['{"a":', '"x"}']).completed()));
    const events = await collected(model().stream(request(answer(schema)), never));
    expect(events.slice(0, -1)).toEqual([
      { type: 'text', text: '{"a":' },
      { type: 'text', text: '"x"}' },
    ]);
  });
});

describe('an answer that is no stream', () => {
  test('is read where it is the JSON of one', async () => {
    const response = {
      object: 'response',
      status: 'completed',
      error: null,
      model: 'n',
      output: [
        { type: 'message', id: 'm1', content: [{ type: 'output_text', text: 'Hello' }] },
        { type: 'function_call', call_id: 'c', name: 'workspace_search', arguments: '{"q":1}' },
      ],
      usage: USAGE,
    };
    const message = { role: 'assistant', content: 'Hello' };
    server.reply(
      status(200, response),
      status(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    );
    const events = await collected(model().stream(request({ tools: [SEARCH] }), never));
    expect(events).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'tool-call-start', providerCallId: 'c' },
      { type: 'tool-call-delta' },
      { type: 'finish', reason: 'tool-calls', model: 'n', usage: NEUTRAL_USAGE },
    ]);
    const chat = await collected(model({ api: 'chat' }).stream(request(), never));
    expect(chat).toMatchObject([{ type: 'text', text: 'Hello' }, { reason: 'stop' }]);
  });

  test.each([
    ['an error under status 200', { error: { message: 'No model.' } }, 'MODEL_FAILED'],
    ['a response that is not ready', { status: 'queued' }, 'MODEL_RESPONSE_INVALID'],
    ['a response that failed silently', { status: 'cancelled' }, 'MODEL_FAILED'],
    ['JSON of something else', { choices: [] }, 'MODEL_RESPONSE_INVALID'],
  ])('%s is an error', async (_, body, code) => {
    server.reply(status(200, body));
    expect(await failed()).toMatchObject({ code });
  });

  test('a page and a text are the address of something else', async () => {
    server.reply(status(200, '<html>', { 'content-type': 'text/html' }));
    expect(await failed()).toMatchObject({ code: 'MODEL_RESPONSE_INVALID', retryable: false });
    server.reply(status(200, '[1]', { 'content-type': 'application/json' }));
    expect(await failed()).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
    server.reply(status(200, 'Welcome'));
    expect(await failed()).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
  });
});

describe('errors', () => {
  const said400 = (error: object) => ({ error: { type: 'invalid_request_error', ...error } });

  test.each([
    [400, said400({ message: 'Bad.' }), 'MODEL_REQUEST_INVALID', false],
    [401, said400({ message: 'No.' }), 'MODEL_AUTHENTICATION', false],
    [404, said400({ message: 'The model `m` does not exist' }), 'MODEL_NOT_FOUND', false],
    [408, said400({ message: 'Late.' }), 'MODEL_TIMEOUT', true],
    [429, said400({ message: 'Slow.' }), 'MODEL_RATE_LIMITED', true],
    [429, said400({ message: 'Pay.', code: 'insufficient_quota' }), 'MODEL_RATE_LIMITED', false],
    [500, said400({ message: 'Oops.' }), 'MODEL_FAILED', true],
    [503, said400({ message: 'Busy.' }), 'MODEL_OVERLOADED', true],
  ])('status %i is %s', async (code, body, expected, retryable) => {
    server.reply(status(code, body, { 'x-request-id': 'req_123' }));
    const error = await failed();
    expect(error).toMatchObject({ code: expected, retryable });
    expect(error.message).toContain(body.error['message' as never]);
    expect(error.message).toContain('(request req_123)');
  });

  test('inside a stream name the request, too', async () => {
    server.reply((response) => {
      const [created = ''] = frames().pieces;
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_9' });
      response.end(created);
    });
    expect((await failed()).message).toContain('/responses (request req_9): the stream ended');
  });

  test('keep the words of gateways that speak otherwise', async () => {
    server.reply(status(400, { detail: 'flat words' }), status(502, 'plain words'), (response) => {
      response.writeHead(500).end();
    });
    expect((await failed()).message).toContain('flat words');
    expect((await failed()).message).toContain('plain words');
    expect((await failed()).message).toContain('an empty body');
  });

  test('show no secret, wherever the server repeats it', async () => {
    server.reply(
      status(400, { error: { message: `${KEY} and topsecret` } }),
      streamed(...frames().failed({ code: 'server_error', message: `${KEY} is wrong` })),
    );
    const options = { headers: { 'x-auth-token': 'topsecret' } };
    for (const error of [await failed(options), await failed(options)]) {
      const shown = `${error.message} ${error.mend} ${String(error.stack)} ${String(error.cause)}`;
      expect(shown).toContain('***');
      expect(shown).not.toMatch(/sk-secret|topsecret/);
    }
  });

  test('a prompt that is too long says so with the numbers that are known', async () => {
    const words =
      "This model's maximum context length is 128 tokens. However, you requested 200 tokens (190 in the messages, 10 in the completion).";
    server.reply(
      status(400, said400({ message: words, code: 'context_length_exceeded' })),
      status(400, said400({ message: 'Too long.', code: 'context_length_exceeded' })),
      streamed(...frames().failed({ code: 'context_length_exceeded', message: 'Too long.' })),
    );
    expect(overflowOf(await failed({ contextWindow: 9 }))).toMatchObject({
      window: 128,
      inputTokens: 190,
      outputTokens: 10,
    });
    const options = { contextWindow: 4096 };
    for (const error of [await failed(options), await failed(options)]) {
      expect(error).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', retryable: false });
      expect(overflowOf(error)).toMatchObject({ window: 4096, isExact: false });
    }
  });

  test('a server that is not there, and a name that is none', async () => {
    const { port } = server;
    await server.close();
    const gone = await failed({ baseUrl: `http://127.0.0.1:${port}/v1` });
    expect(gone).toMatchObject({ code: 'MODEL_UNREACHABLE', retryable: true });
    expect(gone.message).toContain('ECONNREFUSED');
    const wrong = await failed({
      fetch: () =>
        Promise.reject(
          new TypeError('fetch failed', {
            cause: Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }),
          }),
        ),
    });
    expect(wrong).toMatchObject({ code: 'MODEL_UNREACHABLE', retryable: false });
    const slow = await failed({ fetch: () => Promise.reject(new Error('connect timed out')) });
    expect(slow).toMatchObject({ code: 'MODEL_TIMEOUT', retryable: true });
    server = await loopbackServer();
  });

  test('a connection that breaks in the middle is a truncated answer', async () => {
    server.reply(reset(...frames().message(['par']).pieces));
    const seen: ModelEvent[] = [];
    const error = await failure(
      (async () => {
        for await (const batch of model().stream(request(), never)) seen.push(...batch);
      })(),
    );
    expect(seen).toEqual([{ type: 'text', text: 'par' }]);
    expect(error).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
  });
});

describe('limits', () => {
  const step = (clock: ReturnType<typeof fakeClock>) => async () => {
    await clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  };

  test.each([
    ['firstByteMs', stalled()],
    ['idleMs', stalled(...frames().message(['par']).pieces)],
    ['totalMs', stalled(...frames().message(['par']).pieces)],
  ] as const)('%s ends a stream that stalls, and closes the connection', async (limit, reply) => {
    server.reply(reply);
    const clock = fakeClock();
    const timeouts = { [limit]: 50 };
    const pending = failure(collected(model({ timeouts, clock }).stream(request(), never)));
    let error: unknown;
    void pending.then((reason) => {
      error = reason;
    });
    await server.requests(1);
    await until(() => error !== undefined, step(clock));
    expect(error).toMatchObject({ code: 'MODEL_TIMEOUT', retryable: limit !== 'totalMs' });
    expect(String(error)).toContain('within 50 ms');
    expect(await server.received[0]?.ended).toBe('broken');
  });

  test('are not watched any more once an answer is over, however it ends', async () => {
    let watched = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: (_, { signal }) => {
        watched += 1;
        return new Promise((_resolve, reject) => {
          const leave = () => {
            watched -= 1;
            reject(signal.reason);
          };
          signal.addEventListener('abort', leave, { once: true });
        });
      },
    };
    server.reply(
      hello,
      streamed(...frames().failed({ code: 'server_error', message: 'No.' })),
      stalled('data: oops\n\n'),
      (response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.flushHeaders();
      },
      status(200, { error: { message: 'No.' } }),
      status(500, 'oops'),
      status(200, { input_tokens: 1 }),
      stalled(...frames().message(['par']).pieces),
    );
    const asked = model({ clock, timeouts: { totalMs: 60_000 } });
    expect((await collected(asked.stream(request(), never))).at(-1)?.type).toBe('finish');
    for (let count = 0; count < 5; count += 1) {
      await failure(collected(asked.stream(request(), never)));
    }
    await asked.countTokens?.(request(), never);
    const left = asked.stream(request(), never)[Symbol.asyncIterator]();
    await left.next();
    expect(watched).toBe(2);
    await left.return?.();
    expect(watched).toBe(0);
  });

  test('that are met leave nothing behind', async () => {
    server.reply(hello, hello);
    const asked = model({ timeouts: { totalMs: 60_000 } });
    for (let count = 0; count < 2; count += 1) {
      expect((await collected(asked.stream(request(), never))).at(-1)?.type).toBe('finish');
    }
    expect(await server.received[0]?.ended).toBe('complete');
  });
});

describe('an abort', () => {
  const everything = [
    ...frames()
      .reasoning(['Hm.'], { encrypted: 'e' })
      .message(['Hel', 'lo'])
      .call('workspace_search', ['{"q":', '"x"}']).pieces,
  ];
  const EVENTS = 6;

  test.each(Array.from({ length: EVENTS + 1 }, (_, count) => count))(
    'after %i events closes the connection and is answered with its reason',
    async (count) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const controller = new AbortController();
      const reason = new Error('enough');
      server.reply(stalled(...everything));
      const asked = request({ tools: [SEARCH] });
      const stream = model().stream(asked, controller)[Symbol.asyncIterator]();
      let seen = 0;
      const pending = failure(
        (async () => {
          for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
            seen += next.value.length;
            if (seen >= count) controller.abort(reason);
          }
        })(),
      );
      await server.requests(1);
      if (count === 0) controller.abort(reason);
      expect(await pending).toBe(reason);
      expect(seen).toBeGreaterThanOrEqual(count);
      expect(await server.received[0]?.ended).toBe('broken');
      expect(await stream.next()).toEqual({ done: true, value: undefined });
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      await new Promise((resolve) => setImmediate(resolve));
      process.off('unhandledRejection', note);
      expect(unhandled).toEqual([]);
    },
  );

  test('of a count is answered with its reason', async () => {
    server.reply(stalled());
    const controller = new AbortController();
    const pending = failure(model().countTokens?.(request(), controller) ?? Promise.resolve());
    await server.requests(1);
    controller.abort('enough');
    expect(await pending).toBe('enough');
  });
});

describe('capabilities and counts', () => {
  test('say what the options say', () => {
    expect(model().capabilities()).toEqual({
      model: 'm',
      tools: true,
      reasoning: true,
      structuredOutput: 'with-tools',
      inputModalities: ['text', 'image', 'document'],
    });
    const told = model({ api: 'chat', contextWindow: 9, inputModalities: ['text', 'audio'] });
    expect(told.capabilities()).toMatchObject({
      contextWindow: 9,
      inputModalities: ['text', 'audio'],
    });
    expect(model({ api: 'chat' }).countTokens).toBeUndefined();
  });

  test('the provider counts the request as it would be sent', async () => {
    server.reply(status(200, { object: 'response.input_tokens', input_tokens: 42 }));
    const asked = request({
      messages: [said('system', 'S'), said('user', 'Hi')],
      tools: [SEARCH],
      output: { name: 'o', schema: { type: 'object', properties: {} } },
    });
    expect(await model({ reasoning: { effort: 'low' } }).countTokens?.(asked, never)).toBe(42);
    expect(server.received[0]).toMatchObject({
      path: '/v1/responses/input_tokens',
      body: {
        model: 'm',
        instructions: 'S',
        input: [{ role: 'user' }],
        tools: [{ name: 'workspace_search' }],
        tool_choice: 'auto',
        text: { format: { name: 'o' } },
        reasoning: { effort: 'low' },
      },
    });
    expect(server.received[0]?.body).not.toHaveProperty('stream');
    server.reply(status(200, { object: 'something else' }));
    const error = await failure(model().countTokens?.(request(), never) ?? Promise.resolve());
    expect(error).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
  });
});
