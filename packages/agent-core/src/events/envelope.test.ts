import { expect, test } from 'vitest';
import { fenceOf, SEQUENCE_SPAN, sequenceOf } from './envelope.ts';

test('a number says which owner gave it, and stays exact far beyond any number of owners', () => {
  expect(sequenceOf(0, 1)).toBe(1);
  expect(sequenceOf(3, 7)).toBe(3 * SEQUENCE_SPAN + 7);
  expect(fenceOf(sequenceOf(3, SEQUENCE_SPAN - 1))).toBe(3);
  const last = sequenceOf(1_000_000, SEQUENCE_SPAN - 1);
  expect(Number.isSafeInteger(last)).toBe(true);
  expect(fenceOf(last)).toBe(1_000_000);
});
