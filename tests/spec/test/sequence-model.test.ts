import { describe, expect, test } from 'vitest';
import { exhaust, explore } from '../models/sequence/explore.mjs';
import { mutants } from '../models/sequence/mutants.mjs';

/** These need thousands of schedules: `npm run spec` finds them. */
const RARE = ['joined across gaps', 'an id for two commits'];

describe('the sequence model', () => {
  test('keeps its promises in random schedules', () => {
    const { seen, violation } = explore(500, 1);
    expect(violation).toBeUndefined();
    expect(seen).toMatchObject({ schedules: 500 });
  });

  test('keeps its promises in every short schedule of a tiny run', () => {
    expect(exhaust(2)).toEqual({ worlds: 72 });
  });

  test.each(Object.entries(mutants).filter(([name]) => !RARE.includes(name)))(
    'breaks with the mutant "%s"',
    (_, mutant) => {
      expect(explore(300, 1, mutant).violation).toBeTypeOf('string');
    },
  );
});
