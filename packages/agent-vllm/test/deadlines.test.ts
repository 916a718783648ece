import { getEventListeners } from 'node:events';
import { fakeClock } from '@hexagent/agent-core/testing';
import { describe, expect, test } from 'vitest';
import { deadlines, type Watch } from '../src/deadlines.ts';
import { DEFAULT_TIMEOUTS } from '../src/settings.ts';
import type { Timeouts } from '../src/vllm-options.ts';

const HOUR = 3_600_000;

function watch(timeouts: Partial<Timeouts>, more: { readonly signal?: AbortSignal } = {}) {
  const clock = fakeClock();
  const { signal = new AbortController().signal } = more;
  const watched: Watch = deadlines({
    timeouts: { ...DEFAULT_TIMEOUTS, ...timeouts },
    clock,
    signal,
    at: 'http://m',
  });
  return { clock, watched };
}

const message = ({ stopped }: Watch): string => String(stopped?.reason);

test('a connection that does not stand in time', async () => {
  const { clock, watched } = watch({ connectMs: 3000 });
  await clock.advance(2999);
  expect(watched.stopped).toBeUndefined();
  await clock.advance(1);
  expect(message(watched)).toContain('http://m: no connection within 3000 ms');
  expect(watched.stopped?.reason).toMatchObject({ code: 'MODEL_TIMEOUT', retryable: true });
});

test('each phase has its own limit, also a shorter one than the phase before', async () => {
  const { clock, watched } = watch({ connectMs: 5000, firstByteMs: 60_000, idleMs: 100 });
  await clock.advance(4000);
  watched.onConnect();
  await clock.advance(59_000);
  watched.onBytes();
  watched.onRead();
  await clock.advance(99);
  watched.onBytes();
  watched.onRead();
  watched.onRead();
  await clock.advance(99);
  expect(watched.stopped).toBeUndefined();
  await clock.advance(1);
  expect(message(watched)).toContain('no further byte within 100 ms');
});

test('no limit runs while nobody reads: a slow reader is not a silent server', async () => {
  const { clock, watched } = watch({ idleMs: 100 });
  watched.onConnect();
  watched.onBytes();
  await clock.advance(HOUR);
  watched.onBytes();
  await clock.advance(HOUR);
  expect(watched.stopped).toBeUndefined();
  watched.onRead();
  await clock.advance(99);
  expect(watched.stopped).toBeUndefined();
  await clock.advance(1);
  expect(message(watched)).toContain('no further byte within 100 ms');
  watched.onRead();
});

test('a second request of one try, behind an answer that asked for another key, is waited for, too', async () => {
  const { clock, watched } = watch({ connectMs: 10, firstByteMs: 1000, idleMs: 100 });
  watched.onConnect();
  watched.onBytes();
  await clock.advance(HOUR);
  watched.onConnect();
  await clock.advance(999);
  expect(watched.stopped).toBeUndefined();
  await clock.advance(1);
  expect(message(watched)).toContain('no byte of an answer within 1000 ms');
});

test('without limits nothing is waited for; very long ones are no problem', async () => {
  const off = Number.POSITIVE_INFINITY;
  const free = watch({ connectMs: off, firstByteMs: off, idleMs: off });
  await free.clock.advance(1000 * HOUR);
  expect(free.watched.stopped).toBeUndefined();
  const long = watch({ connectMs: 2000 * HOUR });
  await long.clock.advance(1999 * HOUR);
  expect(long.watched.stopped).toBeUndefined();
  await long.clock.advance(HOUR);
  expect(long.watched.stopped).toBeDefined();
});

describe('released', () => {
  test('no limit comes any more', async () => {
    const { clock, watched } = watch({ connectMs: 10 });
    watched.release();
    await clock.advance(HOUR);
    expect(watched.stopped).toBeUndefined();
  });

  test('the caller is not followed any more', () => {
    const caller = new AbortController();
    const { watched } = watch({}, { signal: caller.signal });
    watched.release();
    caller.abort(new Error('late'));
    expect(watched.stopped).toBeUndefined();
  });
});

test('the caller is followed, with its reason', () => {
  const caller = new AbortController();
  const { watched } = watch({}, { signal: caller.signal });
  const reason = new Error('enough');
  caller.abort(reason);
  expect(watched.stopped?.reason).toBe(reason);
});

test('however many tries follow one signal, it has one listener, and none behind them', () => {
  const { signal } = new AbortController();
  const many = Array.from({ length: 1000 }, () => watch({}, { signal }).watched);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const { release } of many) release();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('who listens is told once, also when it is too late', () => {
  const caller = new AbortController();
  const { watched } = watch({}, { signal: caller.signal });
  const told: unknown[] = [];
  watched.listen((reason) => told.push(['first', reason]));
  watched.listen((reason) => told.push(['second', reason]));
  caller.abort('enough');
  watched.listen((reason) => told.push(['third', reason]));
  watched.listen(undefined);
  expect(told).toEqual([
    ['second', 'enough'],
    ['third', 'enough'],
  ]);
  watched.onConnect();
  watched.onBytes();
});

test('a signal that is aborted before is a stop from the start', () => {
  const caller = new AbortController();
  caller.abort('early');
  expect(watch({}, { signal: caller.signal }).watched.stopped).toEqual({ reason: 'early' });
});
