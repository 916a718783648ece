import { amountOf, type Cost, picosOf } from '../vocabulary/cost.ts';
import type { Usage } from '../vocabulary/usage.ts';

/** Money for a million tokens: a decimal text or a number, with up to six digits behind the point. */
export type Price = string | number;

/** What a provider asks for its tokens. */
export type Prices = {
  /** `USD`. */
  readonly currency: string;
  readonly input: Price;
  readonly output: Price;
  /** Input that was read from the provider's cache. Without it such tokens cost as `input`. */
  readonly cached?: Price;
  /** Input that was written to the cache. Without it such tokens cost as `input`. */
  readonly cacheWrite?: Price;
  /** The same, kept for an hour. Without it such tokens cost as `cacheWrite`. */
  readonly cacheWrite1h?: Price;
};

export const PRICE_FIELDS = ['input', 'output', 'cached', 'cacheWrite', 'cacheWrite1h'] as const;

const PRICE_OF_ONE = /^\d{1,9}(\.\d{1,6})?$/;
const MILLION = 1_000_000n;

/** The price of one token in `10^-12` units, exact; undefined for what is no price. */
export function picosPerToken(price: Price): bigint | undefined {
  const text = String(price);
  if (!PRICE_OF_ONE.test(text)) return undefined;
  return (picosOf(text) as bigint) / MILLION;
}

/**
 * What the tokens of one call or of many cost, exact: whole numbers of a millionth of a millionth, no rounding. Undefined
 * where the provider did not say both input and output, or a price is none.
 *
 * @example
 * costOf({ inputTokens: 1_000, outputTokens: 10 }, { currency: 'USD', input: 2, output: '7.5' });
 * // { amount: '0.002075', currency: 'USD' }
 */
export function costOf(usage: Usage, prices: Prices): Cost | undefined {
  const { inputTokens, outputTokens } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const { cachedInputTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const { input, output, cached = input, cacheWrite = input } = prices;
  const { cacheWrite1h = cacheWrite } = prices;
  const items: readonly (readonly [number, Price])[] = [
    [Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens), input],
    [cachedInputTokens, cached],
    [Math.max(0, cacheWriteTokens - cacheWrite1hTokens), cacheWrite],
    [cacheWrite1hTokens, cacheWrite1h],
    [outputTokens, output],
  ];
  let sum = 0n;
  for (const [tokens, price] of items) {
    const each = picosPerToken(price);
    if (each === undefined || !Number.isSafeInteger(tokens) || tokens < 0) return undefined;
    sum += BigInt(tokens) * each;
  }
  return { amount: amountOf(sum), currency: prices.currency };
}
