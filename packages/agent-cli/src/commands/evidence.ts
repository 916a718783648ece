import {
  type App,
  type Caller,
  type ChainReport,
  type EvidenceRow,
  type RunId,
  runIdOf,
  verifyPages,
} from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { counted } from '../render/counted.ts';
import { shownInstant } from '../render/instant.ts';
import type { Output } from '../render/output.ts';
import { type Column, printTable } from '../render/table.ts';
import { UsageError } from '../usage-error.ts';
import { eraseRows } from './erase-evidence.ts';
import { rowsOfFile } from './evidence-file.ts';
import type { CommandHost } from './host.ts';
import { parseCount } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type EvidenceOptions = {
  readonly after?: string;
  readonly limit?: string;
  readonly jsonl?: boolean;
  readonly verify?: boolean;
  readonly verifyFile?: string;
  readonly lastHash?: string;
  readonly erase?: string;
  readonly yes?: boolean;
};

const PAGE = 200;
const HASH_SHOWN = 12;

/** `hexagent evidence <run>` */
export function evidenceCommand(host: CommandHost): Command {
  return new Command('evidence')
    .description('the evidence trail of a run, in order, and whether its chain holds')
    .argument('[run]')
    .option('--after <seq>', 'only rows above this number')
    .option('--limit <count>', 'at most so many (all)')
    .option('--jsonl', 'export: one row a line, as JSON, however many there are')
    .option('--verify', 'print no row, only whether the chain holds')
    .option('--verify-file <file>', 'the same for an exported file; needs no store and no run')
    .option('--last-hash <hash>', 'the last row must have this hash')
    .option('--erase <rows>', 'blank the payloads of these rows for ever: 3,7-9 or all')
    .option('--yes', 'erase without being asked again')
    .action(perform<EvidenceOptions>(host, evidence));
}

async function evidence(task: Task<EvidenceOptions>): Promise<ExitCode> {
  const { options, output, args, signal } = task;
  const { verifyFile, erase } = options;
  if (verifyFile !== undefined) {
    if (args[0] !== undefined)
      throw new UsageError(
        '--verify-file takes no run: it reads the file alone.',
        'Leave the run out, or use --verify for what is stored.',
      );
    const report = await verifyPages(rowsOfFile(verifyFile, { signal }));
    // A trail has at least a row: an export that failed leaves an empty file, which proves nothing.
    if (report.rows === 0 && report.fault === undefined)
      throw new UsageError(
        `The file "${verifyFile}" has no row.`,
        'Name a file that "hexagent evidence <run> --jsonl" wrote.',
      );
    return told(output, options, report);
  }
  const runId = runIdOf(args[0] ?? '');
  if (args[0] === undefined)
    throw new UsageError('Which run?', 'hexagent evidence <run>, or --verify-file <file>.');
  if (erase !== undefined)
    return eraseRows(task, { runId, rows: erase, yes: options.yes === true });
  const { app, caller } = await task.open({ start: false });
  if (options.verify === true) return told(output, options, await app.runs.verify(runId, caller));
  const pages = pagesOf({ app, caller, runId }, options);
  return options.jsonl === true ? exported(task, pages) : listed(task, pages);
}

const COLUMNS: readonly Column<EvidenceRow>[] = [
  { title: 'SEQ', value: ({ seq }) => String(seq) },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'AT', value: ({ at }) => shownInstant(at) },
  { title: 'HASH', value: ({ hash }) => hash.slice(0, HASH_SHOWN) },
  {
    title: 'PAYLOAD',
    value: ({ payload }) => (payload === undefined ? 'erased' : JSON.stringify(payload)),
    flexible: true,
  },
];

/** One row a line and nothing else: what `--verify-file` reads. */
async function exported(
  { output, signal }: Task<EvidenceOptions>,
  pages: AsyncIterable<readonly EvidenceRow[]>,
): Promise<ExitCode> {
  for await (const page of pages) {
    for (const row of page) {
      if (output.mode === 'json') output.record('evidence', row);
      else output.line(JSON.stringify(row));
    }
    await output.drained({ signal });
  }
  return EXIT.completed;
}

async function listed(
  { output, options }: Task<EvidenceOptions>,
  pages: AsyncIterable<readonly EvidenceRow[]>,
): Promise<ExitCode> {
  const rows: EvidenceRow[] = [];
  for await (const page of pages) rows.push(...page);
  for (const row of rows) output.record('evidence', row);
  printTable(output, rows, { columns: COLUMNS, empty: 'No evidence.' });
  // A chain can be verified from its first row on only.
  if (rows.at(0)?.seq !== 1) return EXIT.completed;
  return told(output, options, await verifyPages(once(rows)));
}

async function* once(rows: readonly EvidenceRow[]): AsyncGenerator<readonly EvidenceRow[]> {
  yield rows;
}

async function* pagesOf(
  { app, caller, runId }: { readonly app: App; readonly caller: Caller; readonly runId: RunId },
  options: EvidenceOptions,
): AsyncGenerator<readonly EvidenceRow[]> {
  const limit = options.limit === undefined ? Infinity : parseCount('limit', options.limit);
  let after = options.after === undefined ? 0 : parseCount('after', options.after, 0);
  for (let left = limit; left > 0; ) {
    const page = await app.runs.evidence(runId, { after, limit: Math.min(PAGE, left) }, caller);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    left -= page.length;
    after = last.seq;
  }
}

/** Says what a chain came to. */
function told(output: Output, { lastHash }: EvidenceOptions, report: ChainReport): ExitCode {
  const { rows, erased, fault } = report;
  const isOther = fault === undefined && lastHash !== undefined && lastHash !== report.lastHash;
  output.record('chain', { ...report, holds: fault === undefined && !isOther });
  if (fault !== undefined) {
    const problem = output.safe(fault.problem);
    output.note(output.style.bad(`Row ${fault.seq} does not hold: it ${problem}.`));
    return EXIT.error;
  }
  if (isOther) {
    output.note(
      output.style.bad(`The chain holds, and it is another one: it ends with ${report.lastHash}.`),
    );
    return EXIT.error;
  }
  const blanks = erased === 0 ? '' : `, ${erased} of them erased`;
  output.note(output.style.good(`The chain of ${counted(rows, 'row')} holds${blanks}.`));
  output.note(output.style.faint(`Its last hash: ${report.lastHash}`));
  return EXIT.completed;
}
