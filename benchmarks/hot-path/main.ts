import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Effort } from './measure.ts';
import { type Finding, findings } from './workloads.ts';

const HELP = `bench: what agent-core costs beside a bare async loop that does the same work, in one process.
  --json             the findings as one JSON object
  --rounds N         rounds of each workload; default 15
  --round-ms N       of each contender in a round, about; default 100
  --warm-up-ms N     of each contender before its rounds; default 2000`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
    'round-ms': { type: 'string', default: '100' },
    'warm-up-ms': { type: 'string', default: '2000' },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  const effort: Effort = {
    rounds: Number(values.rounds),
    roundMs: Number(values['round-ms']),
    warmUpMs: Number(values['warm-up-ms']),
  };
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processors: availableParallelism(),
  };
  const found = await findings(effort);
  if (values.json) console.log(JSON.stringify({ ...environment, ...effort, findings: found }));
  else print(environment, effort, found);
}

function print(
  environment: { readonly node: string; readonly platform: string; readonly processors: number },
  { rounds, roundMs, warmUpMs }: Effort,
  found: readonly Finding[],
): void {
  const { node, platform, processors } = environment;
  console.log(`Node ${node} on ${platform}, ${processors} processors.`);
  console.log(`Processor time; medians of ${rounds} rounds of about ${roundMs} ms, by turns,`);
  console.log(`after a warm-up of ${warmUpMs} ms for each contender and workload.\n`);
  const rows = [
    ['', 'bare loop', 'agent-core', 'ratio', 'middle half'],
    ...found.map((each) => [
      each.unit,
      `${each.bareMicroseconds.toFixed(3)} us`,
      `${each.coreMicroseconds.toFixed(3)} us`,
      `${each.ratio.toFixed(2)} x`,
      each.spread.map((ratio) => ratio.toFixed(2)).join('-'),
    ]),
  ];
  for (const row of rows) {
    console.log(row.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(13))).join(''));
  }
}
