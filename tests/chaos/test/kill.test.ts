import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { SAFETIES } from '../src/clerk.ts';
import { buildClerk } from './clerk-process.ts';
import { type CrashPoint, survivesKill } from './killing.ts';

const POINTS: Readonly<Record<string, CrashPoint>> = {
  'while an approval is pending': { at: 'asked approval' },
  'between the approval and the effect': { at: 'before the effect', truth: 'did-not-happen' },
  'between the effect and its record': { at: 'after the effect', truth: 'happened' },
};

let postgres: TestPostgres;
beforeAll(async () => {
  await buildClerk();
  postgres = await testPostgres();
}, 120_000);
afterAll(() => postgres.stop());

describe.each(SAFETIES)('with a tool that is %s, a process is killed', (safety) => {
  for (const [name, point] of Object.entries(POINTS)) {
    test(`${name}, on SQLite`, { timeout: 120_000 }, () =>
      survivesKill('file:FOLDER/runs.db', { point, safety }),
    );
    test(`${name}, on PostgreSQL`, { timeout: 120_000 }, async () =>
      survivesKill((await postgres.database('kill')).url, { point, safety }),
    );
  }
});
