import { expect, test } from 'vitest';
import { callIdOf, randomIds, rootOf, runIdOf, waitIdOf } from './ids.ts';

test('makes ids that are URL-safe and differ', () => {
  const ids = Array.from({ length: 500 }, () => randomIds.next());
  expect(new Set(ids).size).toBe(500);
  for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{20}$/);
});

test('uses every letter of its alphabet', () => {
  const letters = new Set(Array.from({ length: 400 }, () => randomIds.next()).join(''));
  expect(letters.size).toBe(32);
});

test('gives as many random bytes as it is asked for', () => {
  for (const length of [0, 16, 1_024, 5_000]) expect(randomIds.bytes(length)).toHaveLength(length);
  expect(randomIds.bytes(16)).not.toEqual(randomIds.bytes(16));
});

test('finds the root run in the id of anything that belongs to it', () => {
  expect(['r1', 'r1.2.0', 'r1.2.0.w1', 'r1.m7', 'r1.s3'].map(rootOf)).toEqual([
    'r1',
    'r1',
    'r1',
    'r1',
    'r1',
  ]);
  expect([runIdOf('r1'), callIdOf('r1.1.0'), waitIdOf('r1.w1')]).toEqual(['r1', 'r1.1.0', 'r1.w1']);
});
