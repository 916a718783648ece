import { countedStore, type Write } from './counted-store.ts';
import type { Database } from './databases.ts';
import { toolRuns } from './tool-run.ts';

/** Tool steps of the run that is measured. */
export const STEPS = 3;
const HISTORIES = [10, 100, 1_000] as const;

/** What one run of three tool steps costs. */
export type Counts = {
  readonly commits: number;
  /** Statements of each commit, `create` first. */
  readonly statements: readonly number[];
  readonly histories: readonly {
    readonly messages: number;
    readonly create: number;
    /** Characters that a tool step writes: its answer and its results. */
    readonly perStep: number;
  }[];
  /** Characters that a step writes more for one message more in the history. */
  readonly slope: number;
};

export async function counts({ store }: Database): Promise<Counts> {
  const counted = countedStore(store);
  const runs = await toolRuns(counted.store, STEPS);
  // The first use of a store checks its tables.
  await runs.run();
  counted.take();
  await runs.run();
  const writes = counted.take();
  const histories: { messages: number; create: number; perStep: number }[] = [];
  for (const messages of HISTORIES) {
    await runs.run(messages);
    const [create, ...commits] = counted.take();
    histories.push({ messages, create: create?.characters ?? 0, perStep: perStep(commits) });
  }
  await runs.close();
  const [least, most] = [histories[0], histories.at(-1)];
  return {
    commits: writes.length,
    statements: writes.map(({ statements }) => statements),
    histories,
    slope:
      least === undefined || most === undefined
        ? Number.NaN
        : (most.perStep - least.perStep) / (most.messages - least.messages),
  };
}

/** The last commit is the end. */
function perStep(commits: readonly Write[]): number {
  const steps = commits.slice(0, -1);
  return steps.reduce((sum, { characters }) => sum + characters, 0) / STEPS;
}

export type Times = {
  /** Milliseconds of a run, and of as many commits of a bare loop: medians. */
  readonly runMs: number;
  readonly bareMs: number;
  readonly ratio: number;
  readonly cpuRatio: number;
  /** The middle half of the ratios lies between these. */
  readonly spread: readonly [number, number];
};

/** By turns, in one process: what disturbs the machine disturbs both. */
export async function times(
  database: Database,
  { rounds, runs }: { readonly rounds: number; readonly runs: number },
): Promise<Times> {
  const counted = countedStore(database.store);
  const application = await toolRuns(counted.store, STEPS);
  await application.run();
  const rows = counted.take().map(({ characters }) => characters);
  await application.close();
  const plain = await toolRuns(database.store, STEPS);
  const ours = () => plain.run();
  const bare = () => database.bare(rows);
  const measured: { ours: Spent; bare: Spent }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const oursFirst = round % 2 === 0;
    const first = await spent(oursFirst ? ours : bare, runs);
    const second = await spent(oursFirst ? bare : ours, runs);
    // The first round is the warm-up.
    if (round >= 0)
      measured.push(oursFirst ? { ours: first, bare: second } : { ours: second, bare: first });
  }
  await plain.close();
  const ratios = measured.map((one) => one.ours.wall / one.bare.wall);
  return {
    runMs: quantile(
      measured.map((one) => one.ours.wall),
      0.5,
    ),
    bareMs: quantile(
      measured.map((one) => one.bare.wall),
      0.5,
    ),
    ratio: quantile(ratios, 0.5),
    cpuRatio: quantile(
      measured.map((one) => one.ours.cpu / one.bare.cpu),
      0.5,
    ),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

type Spent = { readonly wall: number; readonly cpu: number };

/** Milliseconds of one run of the work. */
async function spent(work: () => Promise<void>, runs: number): Promise<Spent> {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (let run = 0; run < runs; run += 1) await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    wall: (performance.now() - started) / runs,
    cpu: (user + system) / 1_000 / runs,
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
}
