import { bareReader, preparedFetch, type Reader, type Subject } from './readers.ts';

export type Effort = {
  /** Processor time of each reader before its rounds, in milliseconds. */
  readonly warmUpMs: number;
  /** Processor time of each reader in a round, about. */
  readonly roundMs: number;
  readonly rounds: number;
};

/** What a streamed event costs an adapter, in microseconds of processor time, and beside a bare reader of the same bytes. */
export type Finding = {
  readonly adapter: string;
  readonly wire: string;
  readonly perRead: number;
  readonly bareMicroseconds: number;
  readonly microseconds: number;
  /** Median of the ratios of each round. */
  readonly ratio: number;
  /** The middle half of those ratios lies between these. */
  readonly spread: readonly [number, number];
};

const DELTAS = 2_000;
const TEXTS = Array.from({ length: DELTAS }, (_, n) => ` word${n % 10}`);
const CHARACTERS = TEXTS.join('').length;

/** Reads the same bytes with the adapter and with the bare reader by turns: what disturbs the machine disturbs both. */
export async function measure(
  { name, wire, reader }: Subject,
  perRead: number,
  effort: Effort,
): Promise<Finding> {
  const frames = wire.frames(TEXTS);
  const fetch = preparedFetch(frames, perRead);
  const bare = await warmedUp(bareReader(wire, fetch), effort);
  const own = await warmedUp(reader(fetch), effort);
  const costs: { readonly bare: number; readonly own: number }[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    const isFirst = round % 2 === 0;
    const early = await costOf(isFirst ? bare : own);
    const late = await costOf(isFirst ? own : bare);
    costs.push({ bare: isFirst ? early : late, own: isFirst ? late : early });
  }
  const ratios = costs.map((cost) => cost.own / cost.bare);
  const each = (side: 'bare' | 'own'): number =>
    quantile(
      costs.map((cost) => cost[side]),
      0.5,
    ) / frames.length;
  return {
    adapter: name,
    wire: wire.name,
    perRead,
    bareMicroseconds: each('bare'),
    microseconds: each('own'),
    ratio: quantile(ratios, 0.5),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

type Side = { readonly reader: Reader; readonly runs: number };

/** Runs it until it is fast, checks that it reads everything, and learns how many runs fill a round. */
async function warmedUp(reader: Reader, { warmUpMs, roundMs }: Effort): Promise<Side> {
  const characters = await reader();
  if (characters !== CHARACTERS) throw new Error(`${characters} characters, not ${CHARACTERS}.`);
  let runs = 1;
  let cost = 0;
  for (let spentMs = 0; spentMs < warmUpMs; runs *= 2) {
    cost = await costOf({ reader, runs });
    spentMs += (cost * runs) / 1_000;
  }
  return { reader, runs: Math.max(1, Math.ceil((roundMs * 1_000) / cost)) };
}

/**
 * Processor time of the whole process, so that the garbage collector counts. No collection is forced before: between two streams
 * that would also throw away the compiled code of whatever lives as long as a stream, and then its compiler is measured.
 */
async function costOf({ reader, runs }: Side): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) await reader();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
}
