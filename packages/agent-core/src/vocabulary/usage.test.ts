import { expect, test } from 'vitest';
import { addUsage, totalTokens } from './usage.ts';

test('adds what is known, and leaves out what nobody said', () => {
  expect(addUsage({}, {})).toEqual({});
  expect(
    addUsage({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 10, cachedInputTokens: 5 }),
  ).toEqual({ inputTokens: 11, outputTokens: 2, cachedInputTokens: 5 });
  expect(addUsage({ cacheWriteTokens: 1 }, { cacheWriteTokens: 2, cacheWrite1hTokens: 3 })).toEqual(
    { cacheWriteTokens: 3, cacheWrite1hTokens: 3 },
  );
});

test('totals input and output, when either is known', () => {
  expect([
    totalTokens({}),
    totalTokens({ inputTokens: 1 }),
    totalTokens({ outputTokens: 2 }),
    totalTokens({ inputTokens: 1, outputTokens: 2, cachedInputTokens: 1 }),
  ]).toEqual([undefined, 1, 2, 3]);
});
