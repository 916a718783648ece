import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hexagent, startHexagent } from './hexagent-process.ts';

/** A process starts in a second, or in many on a machine that is busy. */
const PATIENCE = 240_000;
const HANGS = { E2E_HANGS: '1', E2E_LEASE_MS: '2000' };
const LEASE = { E2E_LEASE_MS: '2000' };

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'hexagent-worker-'));
const done = { text: 'Done.' };

/** Begins a run in a process that is then stopped or killed in the middle of it. */
async function begun(cwd: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<string> {
  const run = startHexagent(['run', 'writer', 'Go.', '--json'], { cwd, env: HANGS });
  await run.until('message-delta');
  run.child.kill(signal);
  const { stdout } = await run.ended;
  const [, runId = ''] = /"rootRunId":"(r[0-9a-z]+)"/.exec(stdout) ?? [];
  return runId;
}

const recordsIn = (stdout: string): readonly Readonly<Record<string, unknown>>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a worker goes on at once with a run that a process gave back on SIGTERM, and ends well on SIGTERM itself', {
  timeout: PATIENCE,
}, async () => {
  const cwd = await folder();
  const runId = await begun(cwd, 'SIGTERM');
  const worker = startHexagent(['worker', '--concurrency', '2', '--poll-ms', '100'], {
    cwd,
    steps: [done],
    env: { E2E_LEASE_MS: '600000' },
  });
  await worker.until('completed');
  worker.child.kill('SIGTERM');
  const { code, stdout, stderr } = await worker.ended;
  expect(stdout).toBe(`${runId}\twriter\tclaimed (delivery 1)\n${runId}\twriter\tcompleted\n`);
  expect(stderr).toContain('Stopped.');
  expect(code).toBe(0);
});

test('a worker that is stopped in the middle of a run gives it back, one that is killed leaves its lease to run out; a third one finishes it', {
  timeout: PATIENCE,
}, async () => {
  const cwd = await folder();
  const runId = await begun(cwd, 'SIGKILL');
  const first = startHexagent(['worker', '--json', '--poll-ms', '100'], { cwd, env: HANGS });
  await first.until('"claimed"');
  first.child.kill('SIGINT');
  const given = await first.ended;
  expect(given.code).toBe(0);
  expect(recordsIn(given.stdout)).toMatchObject([
    { type: 'claimed', runId, agent: 'writer', deliveries: 2 },
    { type: 'rested', runId, agent: 'writer', rest: 'given-back' },
  ]);

  const second = startHexagent(['worker', '--json', '--poll-ms', '100'], { cwd, env: HANGS });
  await second.until('"claimed"');
  second.child.kill('SIGKILL');
  const killed = await second.ended;
  expect(recordsIn(killed.stdout)).toMatchObject([{ runId, deliveries: 2 }]);

  const third = startHexagent(['worker', '--json', '--poll-ms', '100'], {
    cwd,
    steps: [done],
    env: LEASE,
  });
  await third.until('"rested"');
  third.child.kill('SIGTERM');
  expect(recordsIn((await third.ended).stdout)).toMatchObject([
    { runId, deliveries: 3 },
    { runId, rest: 'completed' },
  ]);
  const shown = await hexagent(['runs', 'show', runId, '--json'], { cwd });
  expect(shown.stdout).toContain('"completed"');
});

test('two workers over one SQLite file share its runs, each of them once', {
  timeout: PATIENCE,
}, async () => {
  const cwd = await folder();
  const runs: string[] = [];
  for (let count = 0; count < 3; count += 1) runs.push(await begun(cwd, 'SIGTERM'));
  const steps = [done, done, done];
  const args = ['worker', '--poll-ms', '20', '--concurrency', '1'];
  const workers = [0, 1].map(() => startHexagent(args, { cwd, steps, env: LEASE }));
  // One may have done everything before the other one can be told to stop.
  await Promise.all(workers.map(({ until }) => until('Working.')));
  for (const runId of runs)
    await Promise.any(workers.map(({ until }) => until(`${runId}\twriter\tcompleted\n`)));
  for (const { child } of workers) child.kill('SIGTERM');
  const ends = await Promise.all(workers.map(({ ended }) => ended));
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  const completed = ends.flatMap(({ stdout }) => [
    ...stdout.matchAll(/^(r[0-9a-z]+)\twriter\tcompleted$/gm),
  ]);
  expect(completed.map(([, runId]) => runId).sort()).toEqual([...runs].sort());
});

test('a second signal leaves at once, whatever a tool does', { timeout: PATIENCE }, async () => {
  const cwd = await folder();
  await begun(cwd, 'SIGTERM');
  const steps = [{ calls: [{ name: 'stick', input: {} }] }];
  const worker = startHexagent(['worker', '--poll-ms', '100'], { cwd, steps, env: LEASE });
  await worker.until('claimed');
  worker.child.kill('SIGTERM');
  await worker.until('Stopping');
  worker.child.kill('SIGTERM');
  expect((await worker.ended).code).toBe(143);
});

test(
  'an option that is no number is refused, and a store without a durable agent has nothing to do',
  async () => {
    const cwd = await folder();
    const refused = await hexagent(['worker', '--concurrency', 'many'], { cwd });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('--concurrency must be a whole number');
  },
  PATIENCE,
);
