import { parseArgs } from 'node:util';
import type { Load } from './load.ts';
import { type Round, round, type ServerName } from './round.ts';

const HELP = `bench:http: readers of event streams on loopback, our host beside a bare node:http server, by turns.
  --readers N  readers at once; default 1000
  --runs N     runs that they are spread over; default 4
  --events N   text deltas of a run; default 200
  --slow N     readers among them that take a little and rest; default 100
  --pace MS    time between two deltas of a run in the paced load; default 20
  --rounds N   rounds of both; default 3
  --only NAME  fast or paced`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    readers: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '4' },
    events: { type: 'string', default: '200' },
    slow: { type: 'string', default: '100' },
    pace: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const [readers, runs, events, slow] = [
    values.readers,
    values.runs,
    values.events,
    values.slow,
  ].map(Number) as [number, number, number, number];
  console.log(`Node ${process.version} on ${process.platform} ${process.arch}.`);
  console.log(
    `${readers} readers on ${runs} runs of ${events} deltas; ${slow} of the readers are slow.`,
  );
  const fast: Load = { readers, runs, events, slow, paceMs: 0 };
  let whole = true;
  for (const [name, load] of [
    ['fast', fast],
    ['paced', { ...fast, paceMs: Number(values.pace) }],
  ] as const) {
    if (values.only !== undefined && values.only !== name) continue;
    const rounds = await byTurns(load);
    console.log(
      `\n${load.paceMs === 0 ? 'as fast as it goes' : `a delta every ${load.paceMs} ms`}`,
    );
    print(rounds, load);
    whole &&= [...rounds.host, ...rounds.raw].every(({ faults }) => faults.length === 0);
  }
  console.log(`\nnothing lost, nothing twice, at every reader: ${whole ? 'yes' : 'NO'}`);
  process.exitCode = whole ? 0 : 1;
}

type Rounds = Readonly<Record<ServerName, readonly Round[]>>;

/** Both servers in every round, and who begins changes: what else the machine does meets both. */
async function byTurns(load: Load): Promise<Rounds> {
  const rounds = { host: [] as Round[], raw: [] as Round[] };
  for (let turn = 0; turn < Number(values.rounds); turn += 1) {
    const order: readonly ServerName[] = turn % 2 === 0 ? ['host', 'raw'] : ['raw', 'host'];
    for (const name of order) rounds[name].push(await round(name, load));
  }
  return rounds;
}

function print({ host, raw }: Rounds, { paceMs }: Load): void {
  console.log(
    `  ${''.padEnd(36)}${'host'.padStart(12)}${'node:http'.padStart(12)}${'ratio'.padStart(9)}`,
  );
  const line = (what: string, of: (round: Round) => number, digits = 0): void => {
    const ratios = host.map((one, index) => of(one) / of(raw[index] as Round));
    const cells = [median(host.map(of)), median(raw.map(of))].map((value) =>
      value.toFixed(digits).padStart(12),
    );
    console.log(
      `  ${what.padEnd(36)}${cells.join('')}${`${median(ratios).toFixed(2)} x`.padStart(9)}`,
    );
  };
  if (paceMs === 0) line('deltas a second, all readers', ({ perSecond }) => perSecond);
  line('characters of a delta', ({ charactersPerEvent }) => charactersPerEvent);
  line('processor time of a delta, µs', ({ cpuPerEvent }) => cpuPerEvent, 2);
  line('memory of a reader, heap, KB', ({ heldPerReader }) => heldPerReader / 1_024, 1);
  line('memory of a reader, process, KB', ({ rssPerReader }) => rssPerReader / 1_024, 1);
  line('last slow reader has all after, s', ({ slowSeconds }) => slowSeconds, 2);
  for (const [name, rounds] of [
    ['host', host],
    ['node:http', raw],
  ] as const) {
    const faults = rounds.flatMap((one) => one.faults);
    if (faults.length > 0) console.log(`  ${name}: ${faults.length} faults, as ${faults[0]}`);
  }
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
