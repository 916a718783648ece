import { expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../base/clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { alarm } from './alarm.ts';

test('rings once, when its time has come', async () => {
  const clock = fakeClock();
  const ring = vi.fn();
  alarm(clock, 1000, ring);
  await clock.advance(999);
  expect(ring).not.toHaveBeenCalled();
  await clock.advance(1);
  await clock.advance(10_000);
  expect(ring).toHaveBeenCalledOnce();
});

test('does not ring once it is cancelled, not even between the end of its sleep and the ring', async () => {
  const clock = fakeClock();
  const ring = vi.fn();
  alarm(clock, 1000, ring)();
  await clock.advance(2000);
  const awake: Clock = { ...clock, sleep: () => Promise.resolve() };
  alarm(awake, 1000, ring)();
  await clock.advance(1);
  expect(ring).not.toHaveBeenCalled();
});

test('never rings for Infinity, and at once for a time that has passed', async () => {
  const clock = fakeClock();
  const never = vi.fn();
  const atOnce = vi.fn();
  const cancel = alarm(clock, Number.POSITIVE_INFINITY, never);
  alarm(clock, -5, atOnce);
  await clock.advance(0);
  expect(atOnce).toHaveBeenCalledOnce();
  await clock.advance(2 ** 40);
  cancel();
  expect(never).not.toHaveBeenCalled();
});

test('may be longer than a timer of the platform, and is cancelled in its later parts, too', async () => {
  const clock = fakeClock();
  const ring = vi.fn();
  const cancelled = vi.fn();
  alarm(clock, 2 ** 32, ring);
  const cancel = alarm(clock, 2 ** 32, cancelled);
  await clock.advance(2 ** 32 - 1);
  expect(ring).not.toHaveBeenCalled();
  cancel();
  await clock.advance(1);
  expect(ring).toHaveBeenCalledOnce();
  expect(cancelled).not.toHaveBeenCalled();
});

test('on the clock of the platform it rings, too, unless it is cancelled', async () => {
  const cancelled = vi.fn();
  const cancel = alarm(systemClock, 1, cancelled);
  cancel();
  await new Promise<void>((resolve) => {
    alarm(systemClock, 5, resolve);
  });
  expect(cancelled).not.toHaveBeenCalled();
});
