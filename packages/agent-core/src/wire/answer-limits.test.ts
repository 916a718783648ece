import { expect, test } from 'vitest';
import type { AgentError } from '../base/error.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { type AnswerTimeouts, answerLimits } from './answer-limits.ts';

function watched(timeouts: AnswerTimeouts) {
  const clock = fakeClock();
  const rung: AgentError[] = [];
  const limits = answerLimits({ timeouts, clock, at: 'http://m', ring: (e) => rung.push(e) });
  return { clock, rung, limits };
}

test('a server that never answers', async () => {
  const { clock, rung } = watched({ firstByteMs: 1000, idleMs: 100 });
  await clock.advance(999);
  expect(rung).toEqual([]);
  await clock.advance(5000);
  expect(rung).toMatchObject([
    {
      code: 'MODEL_TIMEOUT',
      retryable: true,
      message: 'http://m: no byte of an answer within 1000 ms',
      mend: 'Check the load of the model server, or raise timeouts.firstByteMs.',
    },
  ]);
});

test('a connection has a limit of its own where one is given; the first byte is waited for behind it', async () => {
  const timeouts = { connectMs: 50, firstByteMs: 1000, idleMs: 100 };
  const unconnected = watched(timeouts);
  await unconnected.clock.advance(50);
  expect(unconnected.rung[0]?.message).toBe('http://m: no connection within 50 ms');

  const { clock, rung, limits } = watched(timeouts);
  await clock.advance(40);
  limits.onConnect();
  await clock.advance(999);
  expect(rung).toEqual([]);
  await clock.advance(1);
  expect(rung[0]?.mend).toContain('timeouts.firstByteMs');
});

test('bytes move the limit between them, however many come', async () => {
  const { clock, rung, limits } = watched({ firstByteMs: 5000, idleMs: 1000 });
  for (let count = 0; count < 5; count += 1) {
    limits.onRead();
    await clock.advance(900);
    limits.onBytes();
  }
  limits.onRead();
  await clock.advance(999);
  expect(rung).toEqual([]);
  await clock.advance(1);
  expect(rung[0]?.message).toBe('http://m: no further byte within 1000 ms');
});

test('while nobody reads, no limit runs', async () => {
  const { clock, rung, limits } = watched({ firstByteMs: 5000, idleMs: 1000 });
  limits.onBytes();
  await clock.advance(60_000);
  limits.onRead();
  await clock.advance(500);
  limits.onRead();
  await clock.advance(499);
  expect(rung).toEqual([]);
  await clock.advance(1);
  expect(rung).toHaveLength(1);
});

test('a limit between bytes may be shorter than what is left for the first, and longer', async () => {
  const shorter = watched({ firstByteMs: 60_000, idleMs: 10 });
  shorter.limits.onBytes();
  shorter.limits.onRead();
  await shorter.clock.advance(10);
  expect(shorter.rung).toHaveLength(1);

  const longer = watched({ firstByteMs: 10, idleMs: 60_000 });
  longer.limits.onBytes();
  longer.limits.onRead();
  await longer.clock.advance(59_999);
  expect(longer.rung).toEqual([]);
  await longer.clock.advance(1);
  expect(longer.rung).toHaveLength(1);
});

test('released, nothing rings, whatever is told afterwards', async () => {
  const { clock, rung, limits } = watched({ firstByteMs: 10, idleMs: 10 });
  limits.release();
  limits.onBytes();
  limits.onRead();
  limits.release();
  await clock.advance(1000);
  expect(rung).toEqual([]);
});

test('Infinity switches a limit off', async () => {
  const off = Number.POSITIVE_INFINITY;
  const { clock, rung, limits } = watched({ firstByteMs: off, idleMs: off });
  await clock.advance(2 ** 33);
  limits.onBytes();
  limits.onRead();
  await clock.advance(2 ** 33);
  expect(rung).toEqual([]);
});
