import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { SAFETIES } from '../../src/clerk.ts';
import { buildClerk } from '../../test/clerk-process.ts';
import { type CrashPoint, survivesKill } from '../../test/killing.ts';

/**
 * What the writes of the run make known: 1 that it exists, 2 the model's call and the question, 3 that the
 * answer was used and the effect begins, 4 the result, 5 the last answer and the end.
 */
const POINTS: readonly CrashPoint[] = [
  { at: 'before write 1' },
  { at: 'after write 1' },
  { at: 'before write 2' },
  { at: 'after write 2' },
  { at: 'before write 3' },
  { at: 'after write 3', truth: 'did-not-happen' },
  { at: 'before write 4', truth: 'happened' },
  { at: 'after write 4' },
  { at: 'before write 5' },
  { at: 'after write 5' },
];

let postgres: TestPostgres;
beforeAll(async () => {
  await buildClerk();
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

describe.each(SAFETIES)('with a tool that is %s, a process is killed', (safety) => {
  for (const point of POINTS) {
    test(`${point.at}, on SQLite`, { timeout: 120_000 }, () =>
      survivesKill('file:FOLDER/runs.db', { point, safety }),
    );
    test(`${point.at}, on PostgreSQL`, { timeout: 120_000 }, async () =>
      survivesKill((await postgres.database('kill')).url, { point, safety }),
    );
  }
});
