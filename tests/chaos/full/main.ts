import { type TestPostgres, testPostgres } from '@hexagent/test-postgres';
import { COLUMNS, openStage, type Played, playMatrix } from '../src/matrix/matrix.ts';
import { buildProgram } from '../src/matrix/program.ts';
import type { Row } from '../src/matrix/row.ts';
import { tableOf } from '../src/matrix/table.ts';
import { CRASH_TABLE } from '../src/rows/crash-table.ts';
import { MUTANTS, unnoticed } from '../src/rows/mutants.ts';
import { SCENARIOS } from '../src/rows/scenarios.ts';

const HELP = `npm run chaos: kills processes at every row of the crash table, on both databases, for every kind of tool.
  npm run chaos -- --list             the rows
  npm run chaos -- --only ROW,ROW     only these
  npm run chaos -- --store NAME, --tool NAME   only these columns
  npm run chaos -- --parallel N       cells at a time (2)`;

const MUTANTS_ID = 'mutants';
const ROWS: readonly Row[] = [...CRASH_TABLE, ...SCENARIOS];

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) return print(HELP);
  if (args.includes('--list'))
    return print(
      [...ROWS, { id: MUTANTS_ID, name: 'rules that are broken on purpose: each must be noticed' }]
        .map(({ id, name }) => `${id.padEnd(20)} ${name}`)
        .join('\n'),
    );
  const named = option(args, '--only')?.split(',');
  const known = [...ROWS.map(({ id }) => id), MUTANTS_ID];
  const unknown = named?.filter((id) => !known.includes(id)) ?? [];
  if (unknown.length > 0) {
    console.error(`There is no row "${unknown.join('", "')}"; --list shows them.`);
    return 2;
  }
  const rows = ROWS.filter(({ id }) => named?.includes(id) ?? true);
  const parallel = Number(option(args, '--parallel') ?? 2);
  const started = performance.now();
  const columns = COLUMNS.filter(
    ({ store, tool }) =>
      (option(args, '--store') ?? store) === store && (option(args, '--tool') ?? tool) === tool,
  );
  const mutants = named === undefined || named.includes(MUTANTS_ID) ? MUTANTS : [];
  const { played, missed } = await play({ rows, columns, mutants }, parallel);
  if (rows.length > 0) console.log(`\n${tableOf(rows, played)}`);
  console.log(`\n${mutants.length - missed} of ${mutants.length} broken rules were noticed`);
  const count = (kind: Played['outcome']['kind']): number =>
    played.filter(({ outcome }) => outcome.kind === kind).length;
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(`${count('left-out')} cells not played, with the reason above; ${minutes} minutes`);
  const passed = count('ok') + mutants.length - missed;
  const failed = count('failed') + missed;
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

async function play(
  { mutants, ...cells }: Parameters<typeof playMatrix>[1] & { readonly mutants: typeof MUTANTS },
  parallel: number,
): Promise<{ readonly played: readonly Played[]; readonly missed: number }> {
  const postgres: TestPostgres = await testPostgres();
  const program = await buildProgram();
  try {
    const undisturbed = new Map();
    const stages = [];
    for (let lane = 0; lane < parallel; lane += 1)
      stages.push(await openStage(program.file, postgres, undisturbed));
    const played = await playMatrix(stages, cells, reportCell);
    let missed = 0;
    for (const mutant of mutants) {
      const why =
        stages[0] === undefined ? 'there is no stage' : await unnoticed(stages[0], mutant);
      if (why !== undefined) missed += 1;
      console.log(`${why === undefined ? '✓' : '✗'} noticed when broken: ${mutant.fault}`);
      if (why !== undefined) console.log(`    ${why}`);
    }
    return { played, missed };
  } finally {
    program.remove();
    await postgres.stop();
  }
}

function reportCell({ row, store, tool, outcome }: Played): void {
  if (outcome.kind === 'left-out') return;
  const seconds = (outcome.ms / 1000).toFixed(1).padStart(6);
  const mark = outcome.kind === 'ok' ? '✓' : '✗';
  console.log(`${mark} ${row.id.padEnd(16)} ${store.padEnd(11)} ${tool.padEnd(15)} ${seconds} s`);
  for (const why of outcome.why) console.log(`    ${why}`);
}

function option(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at === -1 ? undefined : args[at + 1];
}

function print(text: string): number {
  console.log(text);
  return 0;
}

// What ends a server that a case has started has an opinion of its own about the exit code.
process.exit(await main(process.argv.slice(2)));
