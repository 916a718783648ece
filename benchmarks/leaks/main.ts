import { parseArgs } from 'node:util';
import { memoryStore } from '@hexagent/agent-core/testing';
import { postgresDatabase, sqliteDatabase } from '../durable/databases.ts';
import { runsOnOneSignal, type Sample, slopeOf, suspendAndResume } from './cycles.ts';

const HELP = `bench:leaks: what is left in the process after many suspends and resumes, and after many runs on one signal.
  --cycles N     suspends and resumes in memory; default 10000
  --databases N  the same on each database; default 200
  --runs N       runs on one AbortSignal; default 1000
  --only NAME    memory, sqlite, postgres or signal`;
const TOGETHER = 50;
const SAMPLES = 40;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    cycles: { type: 'string', default: '10000' },
    databases: { type: 'string', default: '200' },
    runs: { type: 'string', default: '1000' },
    only: { type: 'string' },
  },
});

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const warnings: string[] = [];
  process.on('warning', ({ name }) => warnings.push(name));
  if (chosen('memory')) {
    const cycles = Number(values.cycles);
    print(
      `${cycles} cycles in memory`,
      await suspendAndResume(memoryStore(), { cycles, samples: SAMPLES }),
    );
  }
  for (const [name, open] of [
    ['sqlite', sqliteDatabase],
    ['postgres', postgresDatabase],
  ] as const) {
    if (!chosen(name)) continue;
    const database = await open();
    const cycles = Number(values.databases);
    const samples = await suspendAndResume(database.store, { cycles, samples: SAMPLES });
    print(`${cycles} cycles on ${database.name}`, samples);
    await database.close();
  }
  if (chosen('signal')) {
    const runs = Number(values.runs);
    const { samples, most } = await runsOnOneSignal({ runs, together: TOGETHER });
    print(`${runs} runs on one signal, ${TOGETHER} at once`, samples);
    console.log(`  listeners on it at most          ${most}`);
  }
  console.log(`warnings of the platform: ${warnings.join(', ') || 'none'}`);
}

function chosen(name: string): boolean {
  return values.only === undefined || values.only === name;
}

function print(what: string, samples: readonly Sample[]): void {
  const [first, last] = [samples[0], samples.at(-1)];
  const megabytes = (sample: Sample | undefined): string => ((sample?.heap ?? 0) / 1e6).toFixed(2);
  console.log(what);
  console.log(`  heap, first and last sample      ${megabytes(first)} MB, ${megabytes(last)} MB`);
  console.log(`  slope over the second half       ${slopeOf(samples).toFixed(0)} bytes a unit`);
  console.log(`  listeners, first and last        ${first?.listeners}, ${last?.listeners}`);
}
