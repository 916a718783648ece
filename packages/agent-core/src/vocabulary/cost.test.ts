import { expect, test } from 'vitest';
import { addCost, amountOf, picosOf, reachesCost } from './cost.ts';

const usd = (amount: string) => ({ amount, currency: 'USD' });

test('an amount is a whole number of a millionth of a millionth, and the same text again', () => {
  expect(picosOf('0.000000000001')).toBe(1n);
  expect(picosOf('12.5')).toBe(12_500_000_000_000n);
  for (const amount of ['0', '1', '10', '0.1', '123456789.000000000001'])
    expect(amountOf(picosOf(amount) as bigint)).toBe(amount);
});

test('what is no amount is none', () => {
  const seen = ['', '-1', '1e3', '.5', '1.', '1,5', '0.0000000000001'].map(picosOf);
  expect(seen).toEqual(Array.from(seen, () => undefined));
});

test('sums do not drift', () => {
  let sum = usd('0');
  for (let count = 0; count < 1_000; count += 1) sum = addCost(sum, usd('0.1')) ?? usd('0');
  expect(sum).toEqual(usd('100'));
  expect(addCost(usd('1'), { amount: '1', currency: 'EUR' })).toBeUndefined();
  expect(addCost(usd('1'), usd('one'))).toBeUndefined();
  expect(addCost(usd('one'), usd('1'))).toBeUndefined();
});

test('a sum is held against a limit of its currency', () => {
  expect([
    reachesCost(usd('0.9'), usd('1')),
    reachesCost(usd('1.0'), usd('1')),
    reachesCost(usd('1'), { amount: '1', currency: 'EUR' }),
    reachesCost(usd('x'), usd('1')),
    reachesCost(usd('1'), usd('x')),
  ]).toEqual([false, true, undefined, undefined, undefined]);
});
