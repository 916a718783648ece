import { parseArgs } from 'node:util';
import { counts, STEPS, times } from './costs.ts';
import { countStatements } from './counted-store.ts';
import { postgresDatabase, sqliteDatabase } from './databases.ts';

const HELP = `bench:durable: what a durable run of ${STEPS} tool steps writes, and what it takes beside as many bare commits.
  --rounds N   rounds of both, by turns; default 15
  --runs N     runs in a round; default 30
  --only NAME  sqlite or postgres`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '15' },
    runs: { type: 'string', default: '30' },
    only: { type: 'string' },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  countStatements();
  console.log(`Node ${process.version} on ${process.platform} ${process.arch}.`);
  for (const [name, open] of [
    ['sqlite', sqliteDatabase],
    ['postgres', postgresDatabase],
  ] as const) {
    if (values.only !== undefined && values.only !== name) continue;
    const database = await open();
    console.log(`\n${database.name}: a run of ${STEPS} tool steps`);
    const { commits, statements, histories, slope } = await counts(database);
    line('commits', `${commits} (2n + 2 = ${2 * STEPS + 2})`);
    if (name === 'postgres') line('statements of each commit', statements.join(' '));
    for (const { messages, create, perStep } of histories)
      line(
        `with ${messages} messages before`,
        `${perStep.toFixed(0)} characters a step, ${create} at the start`,
      );
    line('a message more before', `${slope.toFixed(3)} characters more a step`);
    const options = { rounds: Number(values.rounds), runs: Number(values.runs) };
    const { runMs, bareMs, ratio, cpuRatio, spread } = await times(database, options);
    line('time of a run', `${runMs.toFixed(2)} ms`);
    line(`time of ${commits} bare commits`, `${bareMs.toFixed(2)} ms`);
    line('ratio', `${ratio.toFixed(2)} x (${spread.map((one) => one.toFixed(2)).join('-')})`);
    line('ratio of processor time', `${cpuRatio.toFixed(2)} x`);
    await database.close();
  }
  line('\nmemory of the process', `${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`);
}

function line(what: string, value: string): void {
  console.log(`  ${what.padEnd(32)} ${value}`);
}
