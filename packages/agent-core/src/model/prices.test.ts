import { expect, test } from 'vitest';
import { costOf, picosPerToken } from './prices.ts';

const prices = { currency: 'USD', input: 3, output: 15 };
const usd = (amount: string) => ({ amount, currency: 'USD' });

test('a price of a million tokens is a whole number of units a token', () => {
  expect(['0.000001', 0.1, '3', 3].map(picosPerToken)).toEqual([
    1n,
    100_000n,
    3_000_000n,
    3_000_000n,
  ]);
  expect(['0.0000001', -1, '1e2', 1e-7, Number.NaN, ''].map(picosPerToken)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
});

test('each token costs what it is: read from the cache, written to it for either time, or neither', () => {
  const usage = {
    inputTokens: 1_000_000,
    cachedInputTokens: 100_000,
    cacheWriteTokens: 300_000,
    cacheWrite1hTokens: 200_000,
    outputTokens: 1_000_000,
    reasoningTokens: 900_000,
  };
  const full = { ...prices, cached: '0.30', cacheWrite: '3.75', cacheWrite1h: 6 };
  // 0.6 · 3 + 0.1 · 0.30 + 0.1 · 3.75 + 0.2 · 6 + 15
  expect(costOf(usage, full)).toEqual(usd('18.405'));
  // Without prices of their own, cache reads and writes cost as input does.
  expect(costOf(usage, prices)).toEqual(usd('18'));
  // Without one for an hour, writes for an hour cost as the others.
  expect(costOf(usage, { ...prices, cacheWrite: '3.75' })).toEqual(usd('18.225'));
});

test('the smallest price of a single token is not lost', () => {
  const tiny = { currency: 'USD', input: '0.000001', output: 0 };
  expect(costOf({ inputTokens: 1, outputTokens: 1 }, tiny)).toEqual(usd('0.000000000001'));
});

test('a part that is larger than its whole costs no less than nothing', () => {
  const usage = { inputTokens: 10, cachedInputTokens: 20, outputTokens: 0 };
  expect(costOf(usage, { ...prices, cached: 1 })).toEqual(usd('0.00002'));
});

test.each([
  { usage: { inputTokens: 1 } },
  { usage: { outputTokens: 1 } },
  { usage: { inputTokens: 1.5, outputTokens: 1 } },
  { usage: { inputTokens: 1, outputTokens: -1 } },
])('nobody knows what $usage costs', ({ usage }) => {
  expect(costOf(usage, prices)).toBeUndefined();
});

test('a price that is none makes no cost', () => {
  expect(
    costOf({ inputTokens: 1, outputTokens: 1 }, { ...prices, output: 'much' }),
  ).toBeUndefined();
});
