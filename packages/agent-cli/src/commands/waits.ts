import {
  rootOf,
  runIdOf,
  WAIT_KINDS,
  WAIT_STATUSES,
  type Wait,
  type WaitKind,
  type WaitStatus,
} from '@hexagent/agent-core';
import { Command, Option } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { shownInstant } from '../render/instant.ts';
import { type Column, printTable } from '../render/table.ts';
import { printQuestion, waitSubject } from '../render/wait-view.ts';
import { answerCommands } from './answer-wait.ts';
import { findWait } from './find-wait.ts';
import type { CommandHost } from './host.ts';
import { type PageOptions, pageQuery, printNext } from './paging.ts';
import { perform, type Task } from './perform.ts';

type ListOptions = PageOptions & {
  readonly run?: string;
  readonly agent?: string;
  readonly kind?: WaitKind;
  readonly status: WaitStatus | 'any';
};

/** `hexagent waits list|show|approve|reject|modify|defer|cancel|answer|result|happened|did-not-happen|abandon` */
export function waitsCommand(host: CommandHost): Command {
  const waits = new Command('waits').description('list and answer what runs wait for');
  waits
    .command('list')
    .description('what waits for an answer, the oldest first')
    .option('--run <run>', 'of this run')
    .option('--agent <agent>', 'of the runs of this agent')
    .addOption(new Option('--kind <kind>', 'of this kind').choices(WAIT_KINDS))
    .addOption(
      new Option('--status <status>', 'in this status')
        .choices([...WAIT_STATUSES, 'any'])
        .default('pending'),
    )
    .option('--limit <count>', 'at most so many (50)')
    .option('--after <cursor>', 'go on after a page')
    .action(perform<ListOptions>(host, list));
  waits
    .command('show')
    .description('one wait: the exact arguments, and for a proposed file what would change')
    .argument('<wait>')
    .action(perform(host, show));
  for (const command of answerCommands(host)) waits.addCommand(command);
  return waits;
}

const COLUMNS: readonly Column<Wait>[] = [
  { title: 'WAIT', value: ({ id }) => id },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'OPENED', value: ({ openedAt }) => shownInstant(openedAt) },
  {
    title: 'EXPIRES',
    value: ({ expiresAt }) => (expiresAt === undefined ? '-' : shownInstant(expiresAt)),
  },
  { title: 'ABOUT', value: waitSubject, flexible: true },
];

async function list({ open, output, options }: Task<ListOptions>): Promise<ExitCode> {
  const { run, agent, kind, status } = options;
  const query = {
    ...pageQuery(options),
    ...(run === undefined ? {} : { runId: runIdOf(run) }),
    ...(agent === undefined ? {} : { agent }),
    ...(kind === undefined ? {} : { kind }),
    ...(status === 'any' ? {} : { status }),
  };
  const { app, caller } = await open({ start: false });
  const page = await app.runs.waits(query, caller);
  for (const wait of page.items) output.record('wait', wait);
  printTable(output, page.items, { columns: COLUMNS, empty: 'Nothing waits for an answer.' });
  printNext(output, page);
  return EXIT.completed;
}

async function show({ open, output, io, args }: Task<object>): Promise<ExitCode> {
  const opened = await open({ start: false });
  const wait = await findWait(opened, args[0] ?? '');
  output.record('wait', wait);
  if (output.mode === 'json') return EXIT.completed;
  await printQuestion(output, wait, { cwd: io.cwd, print: output.line });
  output.line(`  run ${rootOf(wait.id)}, ${wait.status}, opened ${shownInstant(wait.openedAt)}`);
  const { decision, resolvedBy, status, allowed } = wait;
  if (decision !== undefined)
    output.line(
      `  answered: ${decision}${resolvedBy === undefined ? '' : ` by ${output.safe(resolvedBy)}`}`,
    );
  if (status === 'pending') output.line(`  allowed: ${allowed.join(', ')}`);
  return EXIT.completed;
}
