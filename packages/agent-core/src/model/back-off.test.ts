import { expect, test } from 'vitest';
import { backOff } from './back-off.ts';

test('doubles up to a ceiling, and half of it is random', () => {
  const low = [1, 2, 3, 9].map((attempt) => backOff({ attempt, random: () => 0 }));
  const high = [1, 2, 3, 9].map((attempt) => backOff({ attempt, random: () => 0.999_999 }));
  expect(low).toEqual([250, 500, 1000, 15_000]);
  expect(high).toEqual([500, 1000, 2000, 30_000]);
});

test('takes the word of the server over its own', () => {
  expect(backOff({ attempt: 3, retryAfterMs: 7, random: () => 0.5 })).toBe(7);
});

test('begins and ends where it is told', () => {
  expect(backOff({ attempt: 4, random: () => 0, baseMs: 10, maxMs: 40 })).toBe(20);
});
