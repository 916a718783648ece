import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkCommands } from '../src/commands/check-commands.ts';
import {
  type ClockedStore,
  clockedMemoryStore,
  clockedPostgresStore,
  clockedSqliteStore,
} from '../src/commands/clocked-stores.ts';
import { STORE_MUTANTS } from '../src/commands/store-mutants.ts';

describe.each([
  { name: 'in memory', open: clockedMemoryStore, runs: 50 },
  { name: 'on SQLite', open: clockedSqliteStore, runs: 15 },
  { name: 'on PostgreSQL', open: clockedPostgresStore, runs: 5 },
])('random histories $name', ({ open, runs }) => {
  let store: ClockedStore;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  test('whoever dies, stalls, answers or cancels: every effect once, no answer lost, one end, and the record proves it', {
    timeout: 120_000,
  }, async () => {
    const { fault, done } = await checkCommands(store, { runs });
    expect(fault).toBeUndefined();
    expect(done.deaths).toBeGreaterThan(runs / 5);
  });
});

describe('the check', () => {
  test.each([
    'a cancellation is lost',
    'evidence is lost',
    'the second answer counts, too',
  ] as const)('notices a store where %s', { timeout: 120_000 }, async (name) => {
    const { fault } = await checkCommands(await clockedMemoryStore(), {
      runs: 100,
      mutate: STORE_MUTANTS[name],
    });
    expect(fault).toContain('Error: ');
  });
});
