import { fakeClock } from '@hexagent/agent-core/testing';
import { describe, expect, test } from 'vitest';
import { type Deadlines, deadlines } from '../src/deadlines.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from '../src/vllm-options.ts';

const HOUR = 3_600_000;

function watch(timeouts: Partial<Timeouts>, more: { readonly began?: number; readonly signal?: AbortSignal } = {}) {
  const clock = fakeClock();
  const { signal = new AbortController().signal, began = clock.monotonic() } = more;
  const watched: Deadlines = deadlines({
    timeouts: { ...DEFAULT_TIMEOUTS, ...timeouts },
    clock,
    signal,
    at: 'http://m',
    began,
  });
  return { clock, watched };
}

const message = ({ signal }: Deadlines): string => String(signal.reason);

test('a connection that does not stand in time', async () => {
  const { clock, watched } = watch({ connectMs: 3000 });
  await clock.advance(2999);
  expect(watched.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(message(watched)).toContain('http://m: no connection within 3000 ms');
  expect(watched.signal.reason).toMatchObject({ code: 'MODEL_TIMEOUT', retryable: true });
});

test('each phase has its own limit, also a shorter one than the phase before', async () => {
  const { clock, watched } = watch({ connectMs: 5000, firstByteMs: 60_000, idleMs: 100 });
  await clock.advance(4000);
  watched.onConnect();
  await clock.advance(59_000);
  watched.onBytes();
  await clock.advance(99);
  watched.onBytes();
  await clock.advance(99);
  expect(watched.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(message(watched)).toContain('no further byte within 100 ms');
});

test('the time for the whole call counts from its first try, and is not tried again', async () => {
  const { clock, watched } = watch({ totalMs: 1000 }, { began: -400 });
  await clock.advance(600);
  expect(message(watched)).toContain('no complete answer within 1000 ms');
  expect(watched.signal.reason).toMatchObject({ retryable: false });
});

test('without limits nothing is waited for; very long ones are no problem', async () => {
  const off = Number.POSITIVE_INFINITY;
  const free = watch({ connectMs: off, firstByteMs: off, idleMs: off });
  await free.clock.advance(1000 * HOUR);
  expect(free.watched.signal.aborted).toBe(false);
  const long = watch({ connectMs: 2000 * HOUR });
  await long.clock.advance(1999 * HOUR);
  expect(long.watched.signal.aborted).toBe(false);
  await long.clock.advance(HOUR);
  expect(long.watched.signal.aborted).toBe(true);
});

describe('released', () => {
  test('no limit comes any more', async () => {
    const { clock, watched } = watch({ connectMs: 10 });
    watched.release();
    await clock.advance(HOUR);
    expect(watched.signal.aborted).toBe(false);
  });

  test('the caller is not followed any more', () => {
    const caller = new AbortController();
    const { watched } = watch({}, { signal: caller.signal });
    watched.release();
    caller.abort(new Error('late'));
    expect(watched.signal.aborted).toBe(false);
  });
});

test('the caller is followed, with its reason', () => {
  const caller = new AbortController();
  const { watched } = watch({}, { signal: caller.signal });
  const reason = new Error('enough');
  caller.abort(reason);
  expect(watched.signal.reason).toBe(reason);
});
