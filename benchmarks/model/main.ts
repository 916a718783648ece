import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Effort, type Finding, measure } from './measure.ts';
import { SUBJECTS } from './readers.ts';

const HELP = `bench:model: what a streamed event costs each model adapter, beside eventsource-parser and JSON.parse over the same bytes.
  --json             the findings as one JSON object
  --only TEXT        only adapters whose name has it
  --rounds N         rounds of each pair; default 15
  --round-ms N       of each reader in a round, about; default 100
  --warm-up-ms N     of each reader before its rounds; default 1000`;

/** Events that arrive together: one by one, as from a quick server, and as when a reader has been busy. */
const PER_READ = [1, 8, 200];

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '15' },
    'round-ms': { type: 'string', default: '100' },
    'warm-up-ms': { type: 'string', default: '1000' },
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
  const found: Finding[] = [];
  for (const subject of SUBJECTS.filter(({ name }) => name.includes(values.only))) {
    for (const perRead of PER_READ) found.push(await measure(subject, perRead, effort));
  }
  const environment = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processors: availableParallelism(),
  };
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
  console.log(`Processor time of an event; medians of ${rounds} rounds of about ${roundMs} ms, by`);
  console.log(`turns, after a warm-up of ${warmUpMs} ms for each reader.\n`);
  const rows = [
    ['adapter', 'wire', 'events a read', 'bare', 'adapter', 'ratio', 'middle half'],
    ...found.map((each) => [
      each.adapter,
      each.wire,
      String(each.perRead),
      `${each.bareMicroseconds.toFixed(2)} us`,
      `${each.microseconds.toFixed(2)} us`,
      `${each.ratio.toFixed(2)} x`,
      each.spread.map((ratio) => ratio.toFixed(2)).join('-'),
    ]),
  ];
  const widths = [26, 18, 14, 10, 10, 9, 13];
  for (const row of rows) {
    console.log(
      row
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join(''),
    );
  }
}
