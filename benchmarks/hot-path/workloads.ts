import { type Costs, type Effort, measure } from './measure.ts';
import { talk, work } from './script.ts';

/** The cost of one unit of work, in microseconds, and what agent-core costs beside the bare loop. */
export type Finding = {
  readonly unit: string;
  readonly bareMicroseconds: number;
  readonly coreMicroseconds: number;
  /** Median of the ratios of each round. */
  readonly ratio: number;
  /** The middle half of those ratios lies between these. */
  readonly spread: readonly [number, number];
};

const DELTAS = 2_000;
const TURNS = 10;
const CALLS = 8;

/** A run alone; then what each delta and each tool call adds to it. */
export async function findings(effort: Effort): Promise<readonly Finding[]> {
  const run = await measure(talk(1), effort);
  const long = await measure(talk(DELTAS), effort);
  const turns = await measure(work({ turns: TURNS, calls: 1 }), effort);
  const batch = await measure(work({ turns: 1, calls: CALLS }), effort);
  return [
    finding('a run of one turn and one delta', run),
    finding('a streamed delta', added(long, run, DELTAS - 1)),
    finding('a tool call, one a turn', added(turns, run, TURNS)),
    finding('a tool call, eight a turn', added(batch, run, CALLS)),
  ];
}

/** What one of so many units adds to the cost of a run. */
function added(costs: Costs, run: Costs, units: number): Costs {
  const each = (all: readonly number[], base: readonly number[]): readonly number[] =>
    all.map((cost, round) => (cost - (base[round] ?? 0)) / units);
  return { bare: each(costs.bare, run.bare), core: each(costs.core, run.core) };
}

function finding(unit: string, { bare, core }: Costs): Finding {
  const ratios = core.map((cost, round) => cost / (bare[round] ?? Number.NaN));
  return {
    unit,
    bareMicroseconds: quantile(bare, 0.5),
    coreMicroseconds: quantile(core, 0.5),
    ratio: quantile(ratios, 0.5),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
}
