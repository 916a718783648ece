import { getEventListeners } from 'node:events';
import type { ModelEvent } from '@hexagent/agent-core';
import { fakeClock } from '@hexagent/agent-core/testing';
import {
  beginStream,
  type LoopbackServer,
  loopbackServer,
  stalled,
  status,
  streamed,
  write,
} from '@hexagent/test-loopback';
import {
  collected,
  failure,
  never,
  request,
  SEARCH,
  until,
} from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AnthropicOptions, anthropicModel } from '../src/index.ts';
import {
  blockStart,
  delta,
  end,
  messageStart,
  PING,
  text,
  textAnswer,
  thinking,
  toolUse,
} from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const modelOf = (options: Partial<AnthropicOptions> = {}) =>
  anthropicModel({ baseUrl: server.origin, model: 'claude-test', apiKey: 'sk-1', ...options });

describe('a request', () => {
  test('is sent by the SDK, with a bearer and the id for the logs', async () => {
    server.reply(streamed(...textAnswer('ok')));
    await collected(modelOf({ headers: { 'Anthropic-Beta': 'b' } }).stream(request(), never));
    expect(server.received[0]).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      headers: {
        authorization: 'Bearer sk-1',
        accept: 'text/event-stream',
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'b',
        'x-request-id': 'r1',
      },
      body: { model: 'claude-test', stream: true },
    });
    expect(server.received[0]?.headers).not.toHaveProperty('x-api-key');
  });

  test('has the key where other servers look for it', async () => {
    server.otherwise(streamed(...textAnswer('ok')));
    const headersFor = async (options: Partial<AnthropicOptions>) => {
      await collected(modelOf(options).stream(request(), never));
      return server.received.at(-1)?.headers;
    };
    const old = await headersFor({ auth: 'x-api-key', apiVersion: '2023-06-01' });
    expect(old).toMatchObject({ 'x-api-key': 'sk-1', 'anthropic-version': '2023-06-01' });
    expect(old).not.toHaveProperty('authorization');
    expect(await headersFor({ auth: 'both' })).toMatchObject({
      authorization: 'Bearer sk-1',
      'x-api-key': 'sk-1',
    });
  });

  test('without a key sends none, whatever lies in the environment', async () => {
    server.reply(streamed(...textAnswer('ok')));
    process.env['ANTHROPIC_API_KEY'] = 'sk-of-the-environment';
    try {
      const model = anthropicModel({ baseUrl: server.origin, model: 'm' });
      await collected(model.stream(request(), never));
    } finally {
      delete process.env['ANTHROPIC_API_KEY'];
    }
    expect(server.received[0]?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(server.received[0]?.headers)).not.toContain('sk-of');
  });

  test('is for the selected model, and refused for another provider', async () => {
    server.reply(streamed(...textAnswer('ok')));
    const model = modelOf();
    const selection = { provider: 'anthropic', model: 'claude-other' };
    expect(model.selectionProblem?.(selection)).toBeUndefined();
    await collected(model.stream(request({ selection }), never));
    expect(server.received[0]?.body['model']).toBe('claude-other');
    for (const foreign of [{ provider: 'openai' }, { profile: 'fast' }]) {
      expect(model.selectionProblem?.(foreign)).toMatch(/selects the (provider|profile)/);
      const stream = model.stream(request({ selection: foreign }), never);
      expect(await failure(collected(stream))).toMatchObject({
        code: 'MODEL_REQUEST_INVALID',
        message: expect.stringContaining(model.selectionProblem?.(foreign) ?? ''),
      });
    }
    expect(modelOf({ id: 'vllm' }).selectionProblem?.({ provider: 'vllm' })).toBeUndefined();
    expect(server.received).toHaveLength(1);
  });
});

test('capabilities are known before anything is sent', () => {
  expect(modelOf({ contextWindow: 200_000 }).capabilities()).toEqual({
    model: 'claude-test',
    contextWindow: 200_000,
    tools: true,
    reasoning: true,
    structuredOutput: 'with-tools',
    inputModalities: ['text', 'image', 'document'],
  });
  const bare = { structuredOutput: 'final-only', inputModalities: ['text'] } as const;
  expect(modelOf(bare).capabilities({ model: 'other' })).toEqual({
    model: 'other',
    tools: true,
    reasoning: true,
    ...bare,
  });
});

test('one batch is one network read, however many events are in it', async () => {
  const begin = messageStart() + blockStart(0, { type: 'text', text: '' });
  const many = ['a', 'b', 'c']
    .map((piece) => delta(0, { type: 'text_delta', text: piece }))
    .join('');
  server.reply(streamed(begin + many + end('end_turn')));
  const batches: (readonly ModelEvent[])[] = [];
  for await (const batch of modelOf().stream(request(), never)) batches.push(batch);
  expect(batches.map((batch) => batch.map(({ type }) => type))).toEqual([
    ['text', 'text', 'text', 'finish'],
  ]);
});

test('a connection is used again once its answer is read to the end', async () => {
  server.otherwise(streamed(...textAnswer('ok')));
  const model = modelOf();
  const sockets = (): number => new Set(server.received.map(({ socket }) => socket)).size;
  await until(
    () => server.received.length > sockets(),
    async () => {
      await collected(model.stream(request(), never));
      expect(await server.received.at(-1)?.ended).toBe('complete');
    },
  );
});

test('a server that does not end after its last event is not held', async () => {
  const held = stalled(...textAnswer('ok'));
  server.reply(held);
  expect(await collected(modelOf().stream(request(), never))).toMatchObject([
    { type: 'text' },
    { type: 'finish' },
  ]);
  expect(await server.received[0]?.ended).toBe('broken');
});

test('what fetch gives too late is not kept', async () => {
  let cancelled = 0;
  const body = () =>
    new ReadableStream({
      cancel() {
        cancelled += 1;
      },
    });
  let respond: (response: Response) => void = () => undefined;
  const late = new Promise<Response>((resolve) => {
    respond = resolve;
  });
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const fetch = (): Promise<Response> => {
    asked();
    return late;
  };
  const caller = new AbortController();
  const stream = modelOf({ fetch }).stream(request(), caller)[Symbol.asyncIterator]();
  const pending = failure(stream.next());
  const reason = new Error('enough');
  await isAsked;
  caller.abort(reason);
  expect(await pending).toBe(reason);
  respond(new Response(body(), { headers: { 'content-type': 'text/event-stream' } }));
  await until(
    () => cancelled === 1,
    () => new Promise((resolve) => setImmediate(resolve)),
  );
});

describe('an abort', () => {
  const PIECES = [
    messageStart(),
    ...(
      thinking(0, 'c2ln', 'Hm. ', 'Yes.') +
      text(1, 'Hel', 'lo') +
      toolUse(2, { id: 'toolu_1', name: 'workspace_search' }, '{"q":', '"x"}')
    ).split(/(?<=\n\n)/),
  ];

  test('at every event closes the socket, gives the reason, and leaves nothing behind', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => {
      unhandled.push(error);
    };
    process.on('unhandledRejection', note);
    try {
      for (let sent = 0; sent <= PIECES.length; sent += 1) {
        server.reply(stalled(...PIECES.slice(0, sent)));
        const caller = new AbortController();
        const { signal } = caller;
        const counted = listenersOf(signal);
        const stream = modelOf().stream(request({ tools: [SEARCH] }), { signal });
        const reason = new Error(`abort after ${sent}`);
        const reading = failure(collected(stream));
        await server.requests(sent + 1);
        // Half of the aborts meet a stream that is read up to here, half one that is under way.
        if (sent % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
        caller.abort(reason);
        expect(await reading).toBe(reason);
        expect(await server.received[sent]?.ended).toBe('broken');
        expect(counted()).toBe(0);
      }
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });

  test('before the first read sends nothing', async () => {
    const caller = new AbortController();
    caller.abort(new Error('early'));
    expect(await failure(collected(modelOf().stream(request(), caller)))).toBe(
      caller.signal.reason,
    );
    expect(await failure(counting(caller.signal))).toBe(caller.signal.reason);
    expect(server.received).toHaveLength(0);
  });

  test('while tokens are counted', async () => {
    server.reply(stalled());
    const caller = new AbortController();
    const counted = listenersOf(caller.signal);
    const pending = failure(counting(caller.signal));
    await server.requests(1);
    caller.abort(new Error('enough'));
    expect(await pending).toBe(caller.signal.reason);
    expect(await server.received[0]?.ended).toBe('broken');
    expect(counted()).toBe(0);
  });
});

test('leaving in the middle frees the connection; a read after the end is the end', async () => {
  const [begin = '', piece = ''] = textAnswer('par');
  server.reply(stalled(begin, piece));
  const stream = modelOf({ retries: 0 }).stream(request(), never)[Symbol.asyncIterator]();
  await stream.next();
  const pending = stream.next();
  expect(await stream.return?.()).toMatchObject({ done: true });
  expect(await pending).toMatchObject({ done: true });
  expect(await stream.next()).toMatchObject({ done: true });
  expect(await stream.return?.()).toMatchObject({ done: true });
  expect(await server.received[0]?.ended).toBe('broken');
});

describe('limits', () => {
  const timed = (options: Partial<AnthropicOptions>) => {
    const clock = fakeClock();
    const model = modelOf({ clock, retries: 0, random: () => 0, ...options });
    return { clock, model };
  };

  test('a server that never answers', async () => {
    server.reply(() => undefined);
    const { clock, model } = timed({ timeouts: { firstByteMs: 1000 } });
    const failing = failure(collected(model.stream(request(), never)));
    await server.requests(1);
    await clock.advance(999);
    await clock.advance(1);
    expect(await failing).toMatchObject({
      code: 'MODEL_TIMEOUT',
      retryable: true,
      message: `${server.origin}/v1/messages: no byte of an answer within 1000 ms`,
      mend: expect.stringContaining('timeouts.firstByteMs'),
    });
    expect(await server.received[0]?.ended).toBe('broken');
  });

  test('a stream that stalls; a ping is a sign of life', async () => {
    let beat: () => Promise<void> = async () => undefined;
    server.reply(async (response) => {
      beginStream(response);
      const [begin = '', piece = ''] = textAnswer('par');
      await write(response, begin + piece);
      beat = () => write(response, PING);
    });
    const bytes: number[] = [];
    const { clock, model } = timed({
      timeouts: { firstByteMs: 5000, idleMs: 1000 },
      fetch: noting(bytes),
    });
    const stream = model.stream(request(), never)[Symbol.asyncIterator]();
    await stream.next();
    const failing = failure(stream.next());
    for (let count = 0; count < 3; count += 1) {
      const before = bytes.length;
      await clock.advance(900);
      await beat();
      await until(
        () => bytes.length > before,
        () => new Promise((resolve) => setImmediate(resolve)),
      );
      // The read is seen by the limit in the turns after it.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance(999);
    await clock.advance(1);
    expect(await failing).toMatchObject({
      code: 'MODEL_TIMEOUT',
      retryable: true,
      message: expect.stringContaining('no further byte within 1000 ms'),
    });
    expect(await server.received[0]?.ended).toBe('broken');
  });

  test('a reader that takes its time is not a server that is silent', async () => {
    let goOn: () => Promise<void> = async () => undefined;
    const [begin = '', piece = '', rest = ''] = textAnswer('slow');
    server.reply(async (response) => {
      beginStream(response);
      await write(response, begin + piece);
      goOn = async () => {
        await write(response, rest);
        response.end();
      };
    });
    const { clock, model } = timed({ timeouts: { firstByteMs: 5000, idleMs: 1000 } });
    const stream = model.stream(request(), never)[Symbol.asyncIterator]();
    await stream.next();
    await clock.advance(60_000);
    await goOn();
    expect((await stream.next()).value).toMatchObject([{ type: 'finish' }]);
  });

  test('the time for the whole call holds over tries, pauses and silence, and is not tried again', async () => {
    server.otherwise(status(529, { error: { type: 'overloaded_error', message: 'Overloaded' } }));
    const { clock, model } = timed({ retries: 9, timeouts: { totalMs: 1000 } });
    const failing = failure(collected(model.stream(request(), never)));
    await until(
      () => server.received.length >= 3,
      async () => {
        await clock.advance(10);
        await new Promise((resolve) => setImmediate(resolve));
      },
    );
    await clock.advance(1000);
    expect(await failing).toMatchObject({
      code: 'MODEL_TIMEOUT',
      retryable: false,
      message: `${server.origin}/v1/messages: no complete answer within 1000 ms`,
    });
  });

  test('a call within its time leaves no alarm and no listener', async () => {
    server.otherwise(streamed(...textAnswer('ok')));
    const caller = new AbortController();
    const counted = listenersOf(caller.signal);
    const { clock, model } = timed({ timeouts: { totalMs: 1000 } });
    await collected(model.stream(request(), caller));
    const left = model.stream(request(), caller)[Symbol.asyncIterator]();
    await left.next();
    await left.return?.();
    const unread = model.stream(request(), caller)[Symbol.asyncIterator]();
    await unread.return?.();
    server.reply(status(200, { input_tokens: 7 }), status(400, 'no'));
    expect(await model.countTokens?.(request(), caller)).toBe(7);
    expect(await failure(Promise.resolve(model.countTokens?.(request(), caller)))).toMatchObject({
      code: 'MODEL_REQUEST_INVALID',
    });
    expect(counted()).toBe(0);
    await clock.advance(10_000);
    expect(caller.signal.aborted).toBe(false);
  });

  test('a limit may be switched off, and may be longer than a timer of the platform', async () => {
    server.otherwise(stalled());
    const off = Number.POSITIVE_INFINITY;
    for (const firstByteMs of [off, 3 * 2 ** 31]) {
      const { clock, model } = timed({ timeouts: { firstByteMs, idleMs: off } });
      const caller = new AbortController();
      const pending = failure(collected(model.stream(request(), caller)));
      await server.requests(1);
      await clock.advance(2 ** 31);
      await clock.advance(2 ** 31);
      caller.abort(new Error('enough'));
      expect(await pending).toBe(caller.signal.reason);
    }
  });
});

describe('tokens are counted', () => {
  test('of the request as it would be sent', async () => {
    server.reply(
      status(200, { input_tokens: 42, context_management: { original_input_tokens: 42 } }),
    );
    const asked = request({ tools: [SEARCH], sampling: { maxTokens: 5 } });
    expect(await modelOf().countTokens?.(asked, never)).toBe(42);
    expect(server.received[0]).toMatchObject({
      path: '/v1/messages/count_tokens',
      headers: { authorization: 'Bearer sk-1', 'x-request-id': 'r1' },
      body: { model: 'claude-test', tools: [{ name: 'workspace_search' }] },
    });
    expect(server.received[0]?.body).not.toHaveProperty('max_tokens');
  });

  test('and tried again; an answer of something else is an error', async () => {
    const model = modelOf({ clock: { now: () => 0, monotonic: () => 0, sleep: pause } });
    server.reply(status(529, 'busy'), status(200, { input_tokens: 7 }), status(200, { tokens: 7 }));
    expect(await model.countTokens?.(request(), never)).toBe(7);
    expect(await failure(Promise.resolve(model.countTokens?.(request(), never)))).toMatchObject({
      code: 'MODEL_RESPONSE_INVALID',
      message: expect.stringContaining('/v1/messages/count_tokens'),
    });
  });
});

const counting = async (signal: AbortSignal): Promise<number | undefined> =>
  modelOf({ retries: 0 }).countTokens?.(request(), { signal });

/** Short pauses are over at once; limits, which are longer, never come. */
function pause(ms: number, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  if (ms < 10_000) return Promise.resolve();
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** A fetch that notes the size of every network read. */
function noting(bytes: number[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers } = response;
    const noted = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes.push(chunk.length);
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(noted, { headers });
  };
}

/** How many wait for the abort of a signal. */
function listenersOf(signal: AbortSignal): () => number {
  return () => getEventListeners(signal, 'abort').length;
}
