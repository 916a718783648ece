import type { JsonObject, JsonValue, ModelFinding } from '@hexagent/agent-core';
import {
  type LoopbackServer,
  loopbackServer,
  type Received,
  type Reply,
  stalled,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { failure, never } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ProbeOptions, probeServer } from '../src/index.ts';
import { bare, call, calls, chunk, DONE, ROLE, USAGE } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

/** What a scripted server does that others do not. */
type Quirks = {
  readonly models?: JsonObject;
  readonly props?: JsonObject;
  /** By the path. */
  readonly paths?: Readonly<Record<string, Reply>>;
  /** The reply to a chat request; undefined where it does what is usual. */
  readonly chat?: (body: JsonObject) => Reply | undefined;
};

function serve({ models = { data: [{ id: 'm', owned_by: 'x' }] }, paths = {}, chat }: Quirks) {
  server.otherwise((response, received) => {
    const { path, body } = received;
    const reply =
      paths[path] ??
      (path === '/v1/models'
        ? status(200, models)
        : path === '/v1/chat/completions'
          ? (chat?.(body) ?? usual(body))
          : status(404, 'nothing here'));
    return reply(response, received);
  });
}

const asks = (body: JsonObject): string =>
  String((body['messages'] as readonly { readonly content: string }[])[0]?.content);

const invoking = (...names: readonly string[]): Reply =>
  streamed(
    ROLE,
    ...names.map((name, index) =>
      chunk(calls(call({ index, id: `c${index}`, name, args: '{"city":"Paris"}' }))),
    ),
    chunk({}, 'tool_calls'),
    DONE,
  );
const saying = (text: string, reason = 'stop', delta: JsonObject = {}): Reply =>
  streamed(
    ROLE,
    chunk({ ...delta, content: text }),
    chunk({}, reason),
    bare({ choices: [], usage: USAGE }),
    DONE,
  );

/** A server that can do everything. */
function usual(body: JsonObject): Reply {
  const { tools, tool_choice: choice, response_format: format } = body;
  if (body['stream'] === false) {
    const answer = {
      choices: [{ message: { content: 'x' }, finish_reason: 'length' }],
      usage: USAGE,
    };
    return status(200, answer);
  }
  if (body['max_completion_tokens'] !== undefined) return saying('He', 'length');
  if (tools !== undefined) {
    if (typeof choice === 'object') return invoking('add');
    if (/London/.test(asks(body))) return invoking('get_weather', 'get_weather');
    return invoking('get_weather');
  }
  if (format !== undefined) return saying('{"answer":7}');
  if (/step by step/.test(asks(body))) return saying('42', 'stop', { reasoning: 'hm' });
  return saying('Hello');
}

const tooLong = (body: JsonObject, window: number): Reply | undefined =>
  asks(body).length > window
    ? status(400, {
        error: {
          message: `This model's maximum context length is ${window} tokens. However, you requested 1 output tokens and your prompt contains 200 input tokens.`,
        },
      })
    : undefined;

const probed = (options: Partial<ProbeOptions> = {}) =>
  probeServer({ baseUrl: server.baseUrl, retries: 0, ...options }, never);
const statuses = (findings: readonly ModelFinding[]) =>
  Object.fromEntries(findings.map(({ name, status }) => [name, status]));
const detail = (findings: readonly ModelFinding[], wanted: string) =>
  findings.find(({ name }) => name === wanted)?.detail;

test('a server that can do everything is what it says that it is', async () => {
  let running = 0;
  const counted: Reply = (response, received) =>
    status(200, `vllm:num_requests_running ${running}\nvllm:num_requests_waiting 0\n`)(
      response,
      received,
    );
  const long: Reply = async (response, received) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
    });
    await stalled(ROLE, chunk({ content: '1' }))(response, received);
  };
  serve({
    models: { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 128 }] },
    paths: { '/tokenize': status(200, { count: USAGE.prompt_tokens }), '/metrics': counted },
    chat: (body) => (body['ignore_eos'] === true ? long : tooLong(body, 128)),
  });
  const { findings, profile, code, model } = await probed();
  expect(statuses(findings)).toEqual({
    models: 'yes',
    'context window': 'yes',
    streaming: 'yes',
    'usage in a stream': 'yes',
    max_completion_tokens: 'yes',
    reasoning: 'yes',
    tools: 'yes',
    'parallel tools': 'yes',
    'required tool': 'yes',
    'named tool': 'yes',
    'strict tools': 'yes',
    'schema alone': 'yes',
    'schema beside tools': 'yes',
    'token count': 'yes',
    load: 'yes',
    overflow: 'yes',
    abort: 'yes',
  });
  expect(detail(findings, 'overflow')).toBe('recognised: window 128, prompt 200');
  expect(model).toBe('m');
  expect(profile).toEqual({ base: 'vllm', structuredOutput: 'with-tools' });
  expect(code).toBe(
    `vllm({\n  baseUrl: '${server.baseUrl}',\n  model: 'm',\n  profile: { base: 'vllm', structuredOutput: 'with-tools' },\n})`,
  );
  for (const { body, path } of server.received) {
    const limit = body['max_tokens'] ?? body['max_completion_tokens'];
    if (path.endsWith('/completions')) expect(Number(limit)).toBeLessThanOrEqual(512);
  }
});

test('what a server refuses, in its words, is a line of the report', async () => {
  const refuse = (message: string) => status(400, { error: { message } });
  serve({
    chat: (body) => {
      if (body['max_completion_tokens'] !== undefined) return refuse('no max_completion_tokens');
      if (body['stream_options'] !== undefined) return refuse('no stream_options');
      if (body['response_format'] !== undefined) return refuse('no response_format');
      if (body['tool_choice'] !== undefined) return refuse('"required" needs --a-flag');
      if (JSON.stringify(body['tools'])?.includes('strict')) return refuse('no strict');
      return body['tools'] === undefined ? undefined : saying('It is sunny.');
    },
  });
  const { findings, profile } = await probed({ profile: { base: 'vllm', strictTools: true } });
  expect(statuses(findings)).toMatchObject({
    streaming: 'yes',
    'usage in a stream': 'no',
    max_completion_tokens: 'no',
    tools: 'no',
    'parallel tools': 'no',
    'required tool': 'no',
    'named tool': 'no',
    'strict tools': 'no',
    'schema alone': 'no',
    'token count': 'no',
    load: 'no',
    overflow: 'unknown',
    abort: 'unknown',
  });
  expect(detail(findings, 'required tool')).toContain('"required" needs --a-flag');
  expect(detail(findings, 'tools')).toContain('It is sunny.');
  expect(profile).toEqual({
    base: 'vllm',
    streamUsage: false,
    maxTokensField: 'max_tokens',
    toolChoice: 'ignored',
    structuredOutput: 'none',
    tokenCount: 'none',
    metrics: 'none',
  });
});

describe('quirks', () => {
  test('llama.cpp: its own way to count, a named tool that is passed over, reasoning_content', async () => {
    serve({
      models: { data: [{ id: 'm', owned_by: 'llamacpp' }] },
      paths: {
        '/props': status(200, { default_generation_settings: { n_ctx: 64 } }),
        '/apply-template': status(200, { prompt: 'x' }),
        '/tokenize': status(200, { tokens: [1, 2] }),
        '/metrics': status(200, 'llamacpp:requests_processing 0\nllamacpp:requests_deferred 0\n'),
      },
      chat: (body) => {
        if (typeof body['tool_choice'] === 'object') return invoking('get_weather');
        if (/step by step/.test(asks(body))) {
          return saying('42', 'stop', { reasoning_content: 'hm' });
        }
        if (body['tools'] !== undefined && body['response_format'] !== undefined) {
          return saying('{"answer":7}');
        }
        if (asks(body).length > 64) {
          return status(400, {
            error: {
              type: 'exceed_context_size_error',
              message: 'too long',
              n_prompt_tokens: 99,
              n_ctx: 64,
            },
          });
        }
        return undefined;
      },
    });
    const { findings, profile } = await probed();
    expect(profile).toBe('llama.cpp');
    expect(statuses(findings)).toMatchObject({
      'context window': 'yes',
      'named tool': 'no',
      'schema beside tools': 'no',
      'token count': 'unknown',
      overflow: 'yes',
      abort: 'unknown',
    });
    expect(detail(findings, 'reasoning')).toBe('in reasoning_content');
    expect(detail(findings, 'token count')).toBe('2, and the usage says 9');
    expect(detail(findings, 'abort')).toBe('the answer was over before it could be left');
  });

  test('Ollama: tool_choice passed over, prompts cut without a word', async () => {
    serve({
      models: { data: [{ id: 'm', owned_by: 'library' }] },
      chat: (body) => {
        if (body['max_completion_tokens'] !== undefined) return saying('a long answer');
        return body['tool_choice'] === undefined ? undefined : saying('Hello!');
      },
    });
    const { findings, profile } = await probed({ contextWindow: 100 });
    expect(profile).toEqual({ base: 'ollama', structuredOutput: 'with-tools' });
    expect(statuses(findings)).toMatchObject({
      max_completion_tokens: 'no',
      'required tool': 'no',
      overflow: 'no',
    });
    expect(detail(findings, 'overflow')).toContain('and counted 9');
  });

  test('whole answers, reasoning in the text, errors inside of streams', async () => {
    const broken = streamed(ROLE, 'data: {"error":{"message":"no grammar","code":400}}\n\n', DONE);
    const whole = status(200, {
      choices: [{ message: { content: '<think>hm</think>Hello' }, finish_reason: 'stop' }],
    });
    serve({
      models: { data: [{ id: 'm', max_model_len: 1_000_000 }] },
      chat: (body) =>
        body['tools'] !== undefined || body['response_format'] !== undefined ? broken : whole,
    });
    const { findings, profile } = await probed();
    expect(statuses(findings)).toMatchObject({
      streaming: 'no',
      reasoning: 'no',
      tools: 'no',
      'required tool': 'no',
      'schema alone': 'no',
      overflow: 'unknown',
    });
    expect(detail(findings, 'tools')).toContain('no grammar');
    expect(detail(findings, 'overflow')).toContain('1000000 tokens is too large');
    expect(profile).toMatchObject({ base: 'openai-compatible', structuredOutput: 'none' });
  });

  test('a call with broken arguments, or of another tool, is no support of tools', async () => {
    const broken = streamed(
      ROLE,
      chunk(calls(call({ index: 0, id: 'c', name: 'get_weather', args: '{"city' }))),
      chunk({}, 'tool_calls'),
      DONE,
    );
    serve({ chat: (body) => (body['tools'] === undefined ? undefined : broken) });
    expect(detail((await probed()).findings, 'tools')).toBe('get_weather(broken arguments)');
  });

  test('an overflow in words that nobody knows is shown', async () => {
    serve({
      models: { data: [{ id: 'm', max_model_len: 128 }] },
      chat: (body) =>
        asks(body).length > 128
          ? status(400, { error: { message: 'Das ist zu viel.' } })
          : undefined,
    });
    const { findings } = await probed();
    expect(statuses(findings)['overflow']).toBe('unknown');
    expect(detail(findings, 'overflow')).toContain('Das ist zu viel.');
  });

  test('a server that goes on generating for nobody is found out', async () => {
    const gauges = (running: number): Reply =>
      status(200, `vllm:num_requests_running ${running}\nvllm:num_requests_waiting 0\n`);
    let isLong = false;
    serve({
      paths: { '/metrics': (response, received) => gauges(isLong ? 1 : 0)(response, received) },
      chat: (body) => {
        isLong = body['ignore_eos'] === true;
        return isLong ? stalled(ROLE) : undefined;
      },
    });
    const { findings } = await probed({ clock: hurrying });
    expect(detail(findings, 'abort')).toContain('still generated 3 seconds');
  });
});

describe('the server is known by', () => {
  test.each([
    ['sglang', 'sglang'],
    ['organization_owner', 'lmstudio'],
    ['nobody', 'openai-compatible'],
  ])('the owner "%s": %s', async (owner, base) => {
    serve({ models: { data: [{ id: 'm', owned_by: owner }] } });
    const { profile } = await probed();
    expect(typeof profile === 'string' ? profile : profile.base).toBe(base);
  });

  test('its way to count', async () => {
    serve({ paths: { '/tokenize': status(200, { count: 9 }) } });
    expect((await probed()).profile).toMatchObject({ base: 'vllm' });
  });

  test('its way to write templates', async () => {
    serve({
      paths: {
        '/apply-template': status(200, { prompt: 'x' }),
        '/tokenize': status(200, { tokens: [1] }),
      },
    });
    expect((await probed()).profile).toMatchObject({ base: 'llama.cpp' });
  });

  test('its host', async () => {
    for (const [host, base] of [
      ['openrouter.ai/api', 'openrouter'],
      ['generativelanguage.googleapis.com', 'gemini'],
      ['europe-west1-aiplatform.googleapis.com', 'vertex'],
    ]) {
      const fetch: typeof globalThis.fetch = async (url) =>
        String(url).endsWith('/models')
          ? Response.json({ data: [{ id: 'm' }] })
          : Response.json({ error: { message: 'no' } }, { status: 400 });
      const { profile } = await probeServer(
        { baseUrl: `https://${host}/v1`, fetch, retries: 0 },
        never,
      );
      expect(profile).toMatchObject({ base });
    }
  });
});

describe('the whole report', () => {
  test('shows no key', async () => {
    const { port } = server;
    serve({
      chat: ({ tools }) =>
        tools === undefined ? undefined : status(400, { error: { message: 'bad key sk-secret' } }),
    });
    const report = await probeServer(
      { baseUrl: `http://user:pass-word@127.0.0.1:${port}/v1`, apiKey: 'sk-secret', retries: 0 },
      never,
    );
    expect(report.code).toContain('apiKey: process.env.MODEL_API_KEY,');
    expect(JSON.stringify(report)).not.toMatch(/sk-secret|pass-word/);
  });

  test('a server that is not there, or has no model, is an error', async () => {
    serve({ models: { data: [] } });
    expect(await failure(probed())).toMatchObject({ code: 'MODEL_NOT_FOUND' });
    serve({ models: { nothing: 1 } });
    expect(await failure(probed())).toMatchObject({ code: 'MODEL_RESPONSE_INVALID' });
    expect((await probed({ model: 'm' })).findings[0]).toMatchObject({
      name: 'models',
      status: 'no',
    });
    const gone = { baseUrl: 'http://127.0.0.1:1/v1', model: 'm' };
    expect(await failure(probeServer(gone, never))).toMatchObject({ code: 'MODEL_UNREACHABLE' });
  });

  test('a probe that has had its time is a line, and the others go on', async () => {
    serve({
      chat: ({ tools }) => (tools === undefined ? undefined : stalled()),
    });
    const { findings } = await probed({ probeMs: 100 });
    expect(statuses(findings)).toMatchObject({ tools: 'unknown', 'schema alone': 'yes' });
    expect(detail(findings, 'tools')).toBe('no answer in 0.1 seconds');
  });

  test('it ends with the signal, whatever it waits for', async () => {
    const reason = new Error('enough');
    for (const silent of ['/v1/models', '/props', '/v1/chat/completions']) {
      const controller = new AbortController();
      serve({ paths: { [silent]: stalled() } });
      const asked = failure(
        probeServer({ baseUrl: server.baseUrl, retries: 0 }, { signal: controller.signal }),
      );
      await until((received) => received.path === silent);
      controller.abort(reason);
      expect(await asked).toBe(reason);
    }
  });

  test('many models are not all shown', async () => {
    const data: JsonValue = Array.from({ length: 7 }, (_, index) => ({ id: `m${index}` }));
    serve({ models: { data } });
    expect(detail((await probed()).findings, 'models')).toBe('m0, m1, m2, m3, m4 and 2 more');
  });
});

async function until(claim: (received: Received) => boolean): Promise<void> {
  const seen = server.received.length;
  while (!server.received.slice(seen).some(claim))
    await server.requests(server.received.length + 1);
}

/** A clock whose short pauses take no time; its limits never come. */
const hurrying = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms: number) =>
    new Promise<void>((resolve) => {
      if (ms < 1000) setImmediate(resolve);
    }),
};
