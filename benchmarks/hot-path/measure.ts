import { deepStrictEqual } from 'node:assert';
import { agentCore } from './agent-core.ts';
import { bareLoop } from './bare-loop.ts';
import { type Contender, expected, type Script } from './script.ts';

export type Effort = {
  /** Processor time of each contender and workload, in milliseconds. */
  readonly warmUpMs: number;
  /** Processor time of each contender in a round, about. */
  readonly roundMs: number;
  readonly rounds: number;
};

/** What one run of a script costs each contender, in microseconds of processor time, round by round. */
export type Costs = { readonly bare: readonly number[]; readonly core: readonly number[] };

type Side = { readonly contender: Contender; readonly runs: number; readonly costs: number[] };

/** Plays a script with both contenders by turns: what disturbs the machine disturbs both. */
export async function measure(script: Script, effort: Effort): Promise<Costs> {
  const bare = await warmedUp(bareLoop(script), script, effort);
  const core = await warmedUp(await agentCore(script), script, effort);
  for (let round = 0; round < effort.rounds; round += 1) {
    const order = round % 2 === 0 ? [bare, core] : [core, bare];
    for (const side of order) side.costs.push(await costOf(side));
  }
  await bare.contender.close();
  await core.contender.close();
  return { bare: bare.costs, core: core.costs };
}

/** Runs it until it is fast, checks that it shows what it should, and learns how many runs fill a round. */
async function warmedUp(contender: Contender, script: Script, effort: Effort): Promise<Side> {
  deepStrictEqual(await contender.play(), expected(script));
  let runs = 1;
  let spentMs = 0;
  let cost = 0;
  while (spentMs < effort.warmUpMs) {
    cost = await costOf({ contender, runs });
    spentMs += (cost * runs) / 1_000;
    runs *= 2;
  }
  return { contender, runs: Math.max(1, Math.ceil((effort.roundMs * 1_000) / cost)), costs: [] };
}

/** Processor time of the whole process, so that what is left to the garbage collector counts. */
async function costOf({ contender, runs }: Omit<Side, 'costs'>): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) await contender.play();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}
