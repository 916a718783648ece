import { fakeClock } from '@hexagent/agent-core/testing';
import {
  beginStream,
  type LoopbackServer,
  loopbackServer,
  type Reply,
  reset,
  stalled,
  status,
  streamed,
  write,
} from '@hexagent/test-loopback';
import {
  collected,
  failure,
  never,
  pausing,
  request,
  until,
} from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type VllmOptions, vllmModel } from '../src/index.ts';
import { chunk, DONE, ROLE, textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const transports: readonly { readonly name: string; readonly options: Partial<VllmOptions> }[] = [
  { name: 'over node:http', options: {} },
  { name: 'over a fetch of the user', options: { fetch: globalThis.fetch } },
];

describe.each(transports)('$name', ({ options }) => {
  const model = (more: Partial<VllmOptions> = {}) =>
    vllmModel({ baseUrl: server.baseUrl, model: 'm', random: () => 0, ...options, ...more });

  test('reads slow bytes, cut inside a character', async () => {
    const bytes = Buffer.from(textAnswer('Zoë 👋').join(''));
    server.reply(async (response) => {
      beginStream(response);
      for (const byte of bytes) await write(response, Buffer.from([byte]) as unknown as string);
      response.end();
    });
    const events = await collected(model().stream(request(), never));
    expect(events[0]).toEqual({ type: 'text', text: 'Zoë 👋' });
    expect(events.at(-1)?.type).toBe('finish');
  });

  test('a stream that breaks after its first event fails as truncated, with what came before', async () => {
    server.reply(reset(ROLE, chunk({ content: 'par' })));
    const events: unknown[] = [];
    const error = await failure(
      (async () => {
        for await (const batch of model().stream(request(), never)) events.push(...batch);
      })(),
    );
    expect(events).toEqual([{ type: 'text', text: 'par' }]);
    expect(error).toMatchObject({ code: 'MODEL_STREAM_TRUNCATED', retryable: true });
    expect(server.received).toHaveLength(1);
  });

  test('a break after the reason does no harm', async () => {
    server.reply(reset(ROLE, chunk({ content: 'ok' }, 'stop')));
    const events = await collected(model().stream(request(), never));
    expect(events.map(({ type }) => type)).toEqual(['text', 'finish']);
  });

  test('C28: an abort between the headers and the end of the body settles everything', async () => {
    server.reply(stalled(ROLE, chunk({ content: 'a' })));
    const controller = new AbortController();
    const stream = model().stream(request(), { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await stream.next()).done).toBe(false);
    const pending = failure(stream.next());
    const reason = new Error('the user left');
    controller.abort(reason);
    expect(await pending).toBe(reason);
    expect(await server.received[0]?.ended).toBe('broken');
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test('C28: an end without a finish reason is an error, not an end', async () => {
    server.reply(streamed(ROLE, chunk({ content: 'par' })));
    expect(await failure(collected(model().stream(request(), never)))).toMatchObject({
      code: 'MODEL_STREAM_TRUNCATED',
    });
  });

  test('tries again before the first event, after as long as the server asks', async () => {
    const { clock, pauses } = pausing();
    server.reply(
      status(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
      status(503, 'busy'),
      streamed(...textAnswer('ok')),
    );
    const answer = await collected(model({ clock }).stream(request(), never));
    expect(pauses).toEqual([7000, 500]);
    expect(server.received).toHaveLength(3);
    expect(answer.at(-1)?.type).toBe('finish');
  });

  test('an error frame before the first event is tried again, one after it is not', async () => {
    const fault = 'data: {"error":{"message":"engine died","code":500}}\n\n';
    server.reply(streamed(ROLE, fault, DONE), streamed(...textAnswer('ok')));
    const quick = model({ clock: pausing().clock });
    expect((await collected(quick.stream(request(), never))).at(-1)?.type).toBe('finish');
    server.reply(streamed(ROLE, chunk({ content: 'a' }), fault, DONE));
    expect(await failure(collected(quick.stream(request(), never)))).toMatchObject({
      code: 'MODEL_FAILED',
      message: expect.stringContaining('engine died'),
    });
    expect(server.received).toHaveLength(3);
  });

  test('the connection is used again after a whole answer, and after an error', async () => {
    server.otherwise(streamed(...textAnswer('ok')));
    const one = model();
    await collected(one.stream(request(), never));
    await collected(one.stream(request(), never));
    await collected(one.stream(request(), never));
    const sockets = new Set(server.received.map(({ socket }) => socket));
    expect(sockets.size).toBeLessThan(3);
    one.close();
  });

  test('a kept connection that the server has closed is replaced without an error', async () => {
    server.otherwise(streamed(...textAnswer('ok')));
    const one = model({ retries: 0 });
    await collected(one.stream(request(), never));
    server.received[0]?.socket.destroy();
    expect((await collected(one.stream(request(), never))).at(-1)?.type).toBe('finish');
  });

  test('a reader that is slower than the server gets everything', async () => {
    const piece = chunk({ content: 'x'.repeat(10_000) });
    server.reply(streamed(ROLE, piece.repeat(400), chunk({}, 'stop'), DONE));
    let length = 0;
    for await (const batch of model().stream(request(), never)) {
      for (const event of batch) if (event.type === 'text') length += event.text.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(length).toBe(4_000_000);
  });

  test('an answer whose connection stays open after [DONE] is whole all the same', async () => {
    server.reply(stalled(...textAnswer('ok')));
    const events = await collected(model().stream(request(), never));
    expect(events.at(-1)?.type).toBe('finish');
    expect(await server.received[0]?.ended).toBe('broken');
  });

  test('a server that asks for a long wait is not waited for', async () => {
    server.reply(status(429, {}, { 'retry-after': '70' }));
    const error = await failure(collected(model().stream(request(), never)));
    expect(error).toMatchObject({ code: 'MODEL_RATE_LIMITED', retryAfterMs: 70_000 });
    expect(server.received).toHaveLength(1);
  });

  test('leaving in a pause between two tries lets the reader go at once', async () => {
    const clock = fakeClock();
    server.reply(status(429, {}, { 'retry-after': '30' }));
    const stream = model({ clock }).stream(request(), never)[Symbol.asyncIterator]();
    const pending = stream.next();
    await server.requests(1);
    await server.received[0]?.ended;
    await stream.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    await clock.advance(30_000);
    expect(server.received).toHaveLength(1);
  });

  test('leaving early frees the connection', async () => {
    server.reply(stalled(ROLE, chunk({ content: 'a' })));
    for await (const batch of model().stream(request(), never)) {
      expect(batch).toEqual([{ type: 'text', text: 'a' }]);
      break;
    }
    expect(await server.received[0]?.ended).toBe('broken');
  });

  describe('limits', () => {
    const cases: readonly {
      readonly limit: string;
      readonly reply: Reply;
      readonly seen: number;
    }[] = [
      { limit: 'firstByteMs', reply: stalled(), seen: 0 },
      { limit: 'idleMs', reply: stalled(ROLE, chunk({ content: 'a' })), seen: 1 },
      { limit: 'totalMs', reply: stalled(ROLE, chunk({ content: 'a' })), seen: 1 },
    ];

    test.each(cases)(
      '$limit ends a silent stream and closes it',
      async ({ limit, reply, seen }) => {
        const clock = fakeClock();
        server.reply(reply);
        const events: unknown[] = [];
        const one = model({ clock, retries: 0, timeouts: { [limit]: 5000 } });
        const answer = failure(
          (async () => {
            for await (const batch of one.stream(request(), never)) events.push(...batch);
          })(),
        );
        await server.requests(1);
        let isSettled = false;
        void answer.then(() => {
          isSettled = true;
        });
        await until(
          () => isSettled,
          () => clock.advance(events.length < seen ? 0 : 1000),
        );
        expect(await answer).toMatchObject({
          code: 'MODEL_TIMEOUT',
          message: expect.stringContaining('within 5000 ms'),
          mend: expect.stringContaining(`timeouts.${limit}`),
          retryable: limit !== 'totalMs',
        });
        expect(await server.received[0]?.ended).toBe('broken');
      },
    );

    test('comments are life', async () => {
      const clock = fakeClock();
      let next: (() => void) | undefined;
      server.reply(async (response) => {
        beginStream(response);
        await write(response, ROLE + chunk({ content: 'a' }));
        for (let beat = 0; beat < 5; beat += 1) {
          await new Promise<void>((resolve) => {
            next = resolve;
          });
          await write(response, ': still here\n\n');
        }
        await write(response, chunk({}, 'stop') + DONE);
        response.end();
      });
      const answer = collected(
        model({ clock, retries: 0, timeouts: { idleMs: 5000 } }).stream(request(), never),
      );
      let isSettled = false;
      void answer.then(() => {
        isSettled = true;
      });
      await until(
        () => isSettled,
        async () => {
          await clock.advance(next === undefined ? 0 : 3000);
          next?.();
          next = undefined;
        },
      );
      expect((await answer).at(-1)?.type).toBe('finish');
    });
  });
});
