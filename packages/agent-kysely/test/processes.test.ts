import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { openKyselyStore } from '../src/index.ts';
import { folder } from './folder.ts';
import { run, stop, unowned } from './samples.ts';

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const RUNS = 24;

function worker(path: string, name: string, pauseMs = 2): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=development', WORKER, path, name, `${pauseMs}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The first line says that a commit was acknowledged. */
async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('no output');
  const [data] = await once(stdout, 'data');
  return String(data).split('\n')[0] ?? '';
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
  return code;
}

test('processes that open a new file at once migrate it once', { timeout: 120_000 }, async () => {
  const path = join(folder(), 'new.db');
  const workers = ['one', 'two', 'three'].map((name) => worker(path, name));
  expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
  const database = new Database(path);
  expect(database.prepare('select name from hexagent_migration').all([])).toEqual([
    { name: '2026-11-foundation' },
  ]);
  database.close();
});

test('of two processes on one file one is killed; the other ends every run, and nothing is written twice', {
  timeout: 120_000,
}, async () => {
  const path = join(folder(), 'shared.db');
  const { store, close } = await openKyselyStore(`file:${path}`);
  onTestFinished(close);
  for (let n = 0; n < RUNS; n += 1) {
    const fresh = run(`r${n}`, { status: 'created', transition: 'pending' });
    await store.ownership.create(fresh, unowned.first, unowned.options);
  }
  // Slow enough to be at work still when the other one has begun, however busy the machine is.
  const killed = worker(path, 'killed', 500);
  const line = await firstLine(killed);
  const survivor = worker(path, 'survivor');
  await firstLine(survivor);
  killed.kill('SIGKILL');
  await ended(killed);
  expect(await ended(survivor)).toBe(0);
  const last = worker(path, 'last');
  expect(await ended(last)).toBe(0);

  const { items } = await store.records.runs({ scope: { tenantId: 'tenant' }, limit: 99, ...stop });
  expect(items.map(({ status }) => status)).toEqual(Array(RUNS).fill('completed'));
  for (const { runId } of items) {
    const rows = await store.log.read(runId, { after: 0, limit: 99, ...stop });
    const messages = rows.map(({ event }) => (event.type === 'progress' ? event.message : ''));
    // Whoever ended the run wrote all of its own events, in order, behind what was left of the other.
    expect(messages.slice(-3).map((text) => text.split(' ')[1])).toEqual(['1', '2', '3']);
    expect(new Set(rows.map(({ lastSeq }) => lastSeq)).size).toBe(rows.length);
  }
  const [root = '', seq = ''] = line.split(' ');
  const rows = await store.log.read(run(root).runId, { after: Number(seq) - 1, limit: 1, ...stop });
  expect(rows[0]?.lastSeq).toBe(Number(seq));
});
