import { type EvidenceRow, runIdOf, verifyEvidence } from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { shownInstant } from '../render/instant.ts';
import type { Output } from '../render/output.ts';
import { type Column, printTable } from '../render/table.ts';
import type { CommandHost } from './host.ts';
import { parseCount } from './json-argument.ts';
import { perform, type Task } from './perform.ts';

type EvidenceOptions = { readonly after?: string; readonly limit?: string };

const PAGE = 200;
const HASH_SHOWN = 12;

/** `hexagent evidence <run>` */
export function evidenceCommand(host: CommandHost): Command {
  return new Command('evidence')
    .description('the evidence trail of a run, in order, and whether its chain holds')
    .argument('<run>')
    .option('--after <seq>', 'only rows above this number')
    .option('--limit <count>', 'at most so many (all)')
    .action(perform<EvidenceOptions>(host, evidence));
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

async function evidence({ open, output, args, options }: Task<EvidenceOptions>): Promise<ExitCode> {
  const limit = options.limit === undefined ? Infinity : parseCount('limit', options.limit);
  const runId = runIdOf(args[0] ?? '');
  let after = options.after === undefined ? 0 : parseCount('after', options.after, 0);
  const { app, caller } = await open({ start: false });
  const rows: EvidenceRow[] = [];
  while (rows.length < limit) {
    const page = await app.runs.evidence(
      runId,
      { after, limit: Math.min(PAGE, limit - rows.length) },
      caller,
    );
    const last = page.at(-1);
    if (last === undefined) break;
    rows.push(...page);
    after = last.seq;
  }
  for (const row of rows) output.record('evidence', row);
  printTable(output, rows, { columns: COLUMNS, empty: 'No evidence.' });
  return rows.at(0)?.seq === 1 ? verify(output, rows) : EXIT.completed;
}

/** A chain can be verified from its first row on only. */
function verify(output: Output, rows: readonly EvidenceRow[]): ExitCode {
  const fault = verifyEvidence(rows);
  output.record('chain', {
    rows: rows.length,
    holds: fault === undefined,
    ...(fault && { fault }),
  });
  if (fault === undefined) {
    output.note(output.style.good(`The chain of ${rows.length} rows holds.`));
    return EXIT.completed;
  }
  output.note(output.style.bad(`Row ${fault.seq} does not hold: ${fault.problem}.`));
  return EXIT.error;
}
