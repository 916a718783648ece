import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';

const { signal } = new AbortController();

test('reads the wall clock, and a clock that never goes back', () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  const first = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first);
});

test('sleeps, and wakes early with the reason of the signal', async () => {
  await systemClock.sleep(1, { signal });
  const controller = new AbortController();
  const sleeping = systemClock.sleep(1_000_000, { signal: controller.signal });
  controller.abort('wake up');
  await expect(sleeping).rejects.toBe('wake up');
  await expect(systemClock.sleep(1_000_000, { signal: controller.signal })).rejects.toBe('wake up');
});
