import { expect, test } from 'vitest';
import { playCase } from '../src/matrix/play.ts';
import { MUTANTS } from '../src/rows/mutants.ts';
import { testStage } from './stage.ts';

const stage = testStage();

test.each(MUTANTS)(
  'a case fails when this rule is broken: $fault ($store, $tool)',
  { timeout: 120_000 },
  async ({ fault, store, tool, case: one, noticed }) => {
    const broken = { ...stage(), undisturbed: new Map(), mutation: { faults: [fault] } };
    const faults = await playCase(broken, { one, store, tool });
    expect(faults.join('\n')).toMatch(noticed);
  },
);
