import { expect, test } from 'vitest';
import { MUTANTS, unnoticed } from '../src/rows/mutants.ts';
import { testStage } from './stage.ts';

const stage = testStage();

/** The small form: of the store, of the receiver, and of the reader one. */
const CHOSEN: readonly string[] = ['fences-ignored', 'key-ignored', 'cursor-forgotten'];

test.each(MUTANTS.filter(({ fault }) => CHOSEN.includes(fault)))(
  'a case fails when a rule is broken: $fault, on $store, with a tool that is $tool',
  { timeout: 240_000 },
  async (mutant) => {
    expect(await unnoticed(stage(), mutant)).toBeUndefined();
  },
);
