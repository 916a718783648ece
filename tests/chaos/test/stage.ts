import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { afterAll, beforeAll } from 'vitest';
import { openStage } from '../src/matrix/matrix.ts';
import type { Stage } from '../src/matrix/play.ts';
import { buildProgram } from '../src/matrix/program.ts';

/** Builds the program and opens a database before the tests of a file; answers where to find them then. */
export function testStage(): () => Stage {
  let postgres: TestPostgres;
  let program: Awaited<ReturnType<typeof buildProgram>>;
  let stage: Stage;
  beforeAll(async () => {
    program = await buildProgram();
    postgres = await testPostgres();
    stage = await openStage(program.file, postgres);
  }, 120_000);
  afterAll(async () => {
    program.remove();
    await postgres.stop();
  });
  return () => stage;
}
