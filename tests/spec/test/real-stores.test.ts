import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disagreement } from '../src/ownership/disagreement.ts';
import { STORE_RULES, without } from '../src/ownership/store-rules.ts';
import { type TimedStore, timedMemoryStore, timedSqliteStore } from '../src/ownership/stores.ts';

describe.each([
  { name: 'the store in memory', open: timedMemoryStore, runs: 400 },
  { name: 'the SQLite store in a file', open: timedSqliteStore, runs: 60 },
])('$name', ({ open, runs }) => {
  let store: TimedStore;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  test('answers and stands as the ownership model does, whatever two owners and outsiders do', async () => {
    expect(await disagreement(store, { runs })).toBeUndefined();
  });
});

describe('the comparison', () => {
  test.each(STORE_RULES)('tells a model without the rule %s from the store', async (rule) => {
    const store = await timedMemoryStore();
    const found = await disagreement(store, { runs: 1_000, rules: without(rule) });
    expect(found).toContain('model:');
  });
});
