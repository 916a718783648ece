import {
  type App,
  bootstrap,
  createWorker,
  defineAgent,
  type RunId,
  type Worker,
  type WorkerReport,
} from '@hexagent/agent-core';
import { scriptedModel } from '@hexagent/agent-core/testing';
import { kyselyStore, openKyselyStore } from '@hexagent/agent-kysely';
import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';

let postgres: TestPostgres;
let url: string;
beforeAll(async () => {
  postgres = await testPostgres();
  ({ url } = await postgres.database('workers'));
  const { migrator, close } = await openKyselyStore(url);
  await migrator.migrate({ signal: new AbortController().signal });
  await close();
}, 120_000);
afterAll(() => postgres.stop());

const agent = defineAgent({ name: 'worker', recovery: 'action-boundary' });
const done = { text: 'Done.' };
const forever = { text: 'Never.', until: new Promise(() => undefined) };
const RUNS = 12;
/** Far longer than the test: whatever is taken up sooner was told. */
const NEVER_POLLS = 600_000;

const appOf = (steps: readonly object[]): Promise<App> =>
  bootstrap({ plugins: [scriptedModel(steps), kyselyStore({ url })], agents: [agent] });

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function workerOf(app: App, pollMs: number): { worker: Worker; reports: WorkerReport[] } {
  const reports: WorkerReport[] = [];
  const worker = createWorker(app, { concurrency: 2, pollMs, report: (one) => reports.push(one) });
  worker.start();
  return { worker, reports };
}

const rested = (reports: readonly WorkerReport[]): readonly RunId[] =>
  reports.flatMap((report) => (report.type === 'rested' ? [report.runId] : []));

test('workers are told of runs that a process gives back, and two that race for them drive each of them once', async () => {
  const apps = await Promise.all([0, 1].map(() => appOf(Array(RUNS).fill(done))));
  const workers = apps.map((app) => workerOf(app, NEVER_POLLS));
  // They have looked and found nothing.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const giving = await appOf(Array(RUNS).fill(forever));
  const runs: RunId[] = [];
  for (let count = 0; count < RUNS; count += 1) runs.push((await giving.start(agent, 'x')).runId);
  await giving.close();
  const all = (): readonly RunId[] => workers.flatMap(({ reports }) => rested(reports));
  await until(() => all().length >= RUNS);
  await Promise.all(apps.map((app) => app.close()));
  expect([...all()].sort()).toEqual([...runs].sort());
  const reports = workers.flatMap(({ reports: said }) => said);
  expect(reports.filter(({ type }) => type === 'failed')).toEqual([]);
  for (const report of reports) {
    if (report.type === 'rested') expect(report.rest).toBe('completed');
    if (report.type === 'claimed') expect(report.deliveries).toBe(1);
  }
}, 60_000);

test('a worker that is drained in the middle of its runs tells another one, which goes on without a delivery', async () => {
  const [first, second] = [await appOf([forever, forever]), await appOf([done, done])];
  const giving = await appOf([forever, forever]);
  await giving.start(agent, 'x');
  await giving.start(agent, 'y');
  const one = workerOf(first, 50);
  await giving.close();
  await until(() => one.worker.running === 2);
  const other = workerOf(second, NEVER_POLLS);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await one.worker.drain();
  await until(() => rested(other.reports).length === 2);
  expect(other.reports).toMatchObject(
    other.reports.map(({ type }) =>
      type === 'claimed' ? { deliveries: 1 } : { rest: 'completed' },
    ),
  );
  await Promise.all([first.close(), second.close()]);
}, 60_000);
