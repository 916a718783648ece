import { describe, expect, test } from 'vitest';
import { exhaust, explore } from '../models/sequence/explore.mjs';
import { mutated, REAL_MUTANTS, type RealMutant } from '../src/sequence/real-mutants.ts';
import { REAL_PARTS } from '../src/sequence/real-parts.ts';

describe('the event feed and its rows, in the world of the sequence model', () => {
  test('keep every promise in random schedules', () => {
    const { seed, violation, seen } = explore(800, 1, REAL_PARTS);
    expect([seed, violation]).toEqual([undefined, undefined]);
    // The schedules met what they are there for.
    for (const often of Object.values(seen)) expect(often).toBeGreaterThan(0);
  });

  test('keep every promise in every short schedule of a tiny run', () => {
    expect(exhaust(2, REAL_PARTS)).toEqual({ worlds: 71 });
  });

  test.each(Object.keys(REAL_MUTANTS) as RealMutant[])(
    'would not pass with a fault: %s',
    (name) => {
      expect(explore(500, 1, mutated(name)).violation).toBeTypeOf('string');
    },
  );
});
