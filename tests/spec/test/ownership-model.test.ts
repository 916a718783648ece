import { describe, expect, test } from 'vitest';
import { hasCycle, search } from '../models/ownership/explore.mjs';
import { RULES } from '../models/ownership/model.mjs';
import { REFUTATIONS, SCENARIOS } from '../models/ownership/scenarios.mjs';

/** More states than the worlds below have; the others are explored by `npm run spec`. */
const LIMIT = 8_000;
const SMALL = [
  'created',
  'reconcilable-lost-answer',
  'gated-expiry-skewed',
  'messages-fail',
  'poison-model',
  'no-polling-late-answer',
  'no-polling-beats',
  'no-polling-child',
];
/** These need tens of thousands of states. */
const SLOW = ['answerIsConsumedWhenRead', 'startedBeforeEffect', 'duplicateBeforeTerminal'];

describe('the ownership model', () => {
  test.each(SCENARIOS.filter(({ name }) => SMALL.includes(name)))(
    'keeps every invariant in every interleaving of $name',
    (scenario) => {
      const result = search(scenario, RULES, LIMIT);
      expect([result.why, result.trace, result.stopped]).toEqual([undefined, undefined, undefined]);
    },
  );

  test.each(REFUTATIONS.filter(({ rule }) => !SLOW.includes(rule)))(
    'breaks without the rule $rule',
    ({ rule, but, scenario }) => {
      const result = search(scenario, { ...RULES, [rule]: false, ...but }, LIMIT);
      expect(result.why).toBeTypeOf('string');
    },
  );

  test('comes to an end: no run of steps returns to where it was', () => {
    const created = SCENARIOS.find(({ name }) => name === 'created');
    expect(created && hasCycle(created)).toMatchObject({ cycle: false });
  });
});
