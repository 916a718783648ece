import { expect, test } from 'vitest';
import { masked } from './masked.ts';

test('takes every secret out, the longer one first', () => {
  expect(masked('key sk-1 and sk-1-long', ['sk-1', 'sk-1-long'])).toBe('key *** and ***');
});

test('finds a secret inside JSON and inside an address', () => {
  expect(masked('{"key":"a\\"b"} /?k=a%22b', ['a"b'])).toBe('{"key":"***"} /?k=***');
});

test('leaves a text alone when there is no secret', () => {
  expect(masked('text', ['', 'other'])).toBe('text');
});
