import { expect, test } from 'vitest';
import { shortHash } from './short-hash.ts';

test('is so many letters and digits, always the same ones', () => {
  expect(shortHash('functions.search:0', 9)).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(shortHash('a', 9)).toBe(shortHash('a', 9));
  expect(
    new Set(Array.from({ length: 5000 }, (_, index) => shortHash(`call ${index}`, 9))).size,
  ).toBe(5000);
});
