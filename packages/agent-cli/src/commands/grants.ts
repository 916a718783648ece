import type { Grant } from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { shownInstant } from '../render/instant.ts';
import { type Column, printTable } from '../render/table.ts';
import type { CommandHost } from './host.ts';
import { type PageOptions, pageQuery, printNext } from './paging.ts';
import { perform, type Task } from './perform.ts';

/** `hexagent grants list|revoke` */
export function grantsCommand(host: CommandHost): Command {
  const grants = new Command('grants').description('list and revoke approvals that are remembered');
  grants
    .command('list', { isDefault: true })
    .description('what runs without being asked about again')
    .option('--limit <count>', 'at most so many (50)')
    .option('--after <cursor>', 'go on after a page')
    .action(perform<PageOptions>(host, list));
  grants
    .command('revoke')
    .description('ask again from the next call on')
    .argument('<grant>')
    .action(perform(host, revoke));
  return grants;
}

const COLUMNS: readonly Column<Grant>[] = [
  { title: 'GRANT', value: ({ id }) => id },
  { title: 'AGENT', value: ({ agent }) => agent },
  { title: 'TOOL', value: ({ tool }) => tool },
  { title: 'FOR', value: ({ what }) => (what === 'tool' ? 'every call' : 'one set of arguments') },
  { title: 'WITHIN', value: ({ within, place }) => `${within} ${place}` },
  { title: 'BY', value: ({ grantedBy }) => grantedBy },
  { title: 'SINCE', value: ({ grantedAt }) => shownInstant(grantedAt) },
];

async function list({ open, output, options }: Task<PageOptions>): Promise<ExitCode> {
  const { app, caller } = await open({ start: false });
  const page = await app.runs.grants(pageQuery(options), caller);
  for (const grant of page.items) output.record('grant', grant);
  printTable(output, page.items, { columns: COLUMNS, empty: 'No approval is remembered.' });
  printNext(output, page);
  return EXIT.completed;
}

async function revoke({ open, output, args }: Task<object>): Promise<ExitCode> {
  const id = args[0] ?? '';
  const { app, caller } = await open({ start: false });
  await app.runs.revokeGrant(id, caller);
  output.record('revoked', { grantId: id });
  output.note(output.style.good('Revoked: the next call asks again.'));
  return EXIT.completed;
}
