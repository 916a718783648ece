import { fakeClock } from '@hexagent/agent-core/testing';
import {
  type LoopbackServer,
  loopbackServer,
  stalled,
  status,
  streamed,
} from '@hexagent/test-loopback';
import { collected, failure, never, request, until } from '@hexagent/test-loopback/requests';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { vllmModel } from '../src/index.ts';
import { textAnswer } from './fixtures/frames.ts';

let server: LoopbackServer;
beforeEach(async () => {
  server = await loopbackServer();
});
afterEach(() => server.close());

const busy = status(503, 'busy');

function limited(totalMs: number) {
  const pauses: number[] = [];
  const fake = fakeClock();
  const clock = {
    ...fake,
    sleep: (ms: number, stop: { readonly signal: AbortSignal }) => {
      pauses.push(ms);
      return fake.sleep(ms, stop);
    },
  };
  const pausing = (ms: number): Promise<void> =>
    until(
      () => pauses.includes(ms),
      () => new Promise((resolve) => setImmediate(resolve)),
    );
  const model = vllmModel({
    baseUrl: server.baseUrl,
    model: 'm',
    timeouts: { totalMs },
    retries: 5,
    random: () => 0,
    clock,
  });
  return { clock, model, pausing };
}

test('the time for the whole call goes on over tries and pauses, and is not tried again', async () => {
  server.otherwise(busy);
  const { clock, model, pausing } = limited(1000);
  const waiting = failure(collected(model.stream(request(), never)));
  // The pauses are 250, 500 and 1000 ms long.
  await pausing(250);
  await clock.advance(250);
  await pausing(500);
  await clock.advance(750);
  expect(await waiting).toMatchObject({
    code: 'MODEL_TIMEOUT',
    retryable: false,
    message: expect.stringContaining('no complete answer within 1000 ms'),
    mend: expect.stringContaining('timeouts.totalMs'),
  });
  model.close();
});

test('an answer in time is not disturbed, and nothing is left behind', async () => {
  server.otherwise(streamed(...textAnswer('ok')));
  const { clock, model } = limited(1000);
  expect((await collected(model.stream(request(), never))).at(-1)).toMatchObject({
    type: 'finish',
  });
  await clock.advance(5000);
  model.close();
});

test('a count and the discovery have the limit too', async () => {
  server.otherwise(stalled());
  const { clock, model } = limited(1000);
  const count = failure(Promise.resolve(model.countTokens?.(request(), never)));
  const discovery = failure(model.discover(never));
  await server.requests(2);
  await clock.advance(1000);
  for (const error of [await count, await discovery]) {
    expect(error).toMatchObject({ code: 'MODEL_TIMEOUT', retryable: false });
  }
  model.close();
});

test('leaving early ends it', async () => {
  server.otherwise(stalled(...textAnswer('a').slice(0, 2)));
  const { model } = limited(1000);
  const batches = model.stream(request(), never)[Symbol.asyncIterator]();
  await batches.next();
  await batches.return?.();
  expect(await server.received[0]?.ended).toBe('broken');
  model.close();
});

test('the discovery is tried again like a call', async () => {
  server.reply(busy, status(200, { data: [{ id: 'm', max_model_len: 7 }] }));
  const { clock, model, pausing } = limited(60_000);
  const discovery = model.discover(never);
  await pausing(250);
  await clock.advance(250);
  await discovery;
  expect(model.capabilities().contextWindow).toBe(7);
  model.close();
});
