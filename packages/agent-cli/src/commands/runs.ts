import { RUN_STATUSES, type RunState, type RunStatus, runIdOf } from '@hexagent/agent-core';
import { Command, Option } from 'commander';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.ts';
import { shownInstant } from '../render/instant.ts';
import { type Column, printTable } from '../render/table.ts';
import { cancelOnInterrupt } from './cancel-run.ts';
import { followRun } from './follow-run.ts';
import { type ForkCommandOptions, forkRun } from './fork-run.ts';
import type { CommandHost } from './host.ts';
import { parseCount } from './json-argument.ts';
import { type PageOptions, pageQuery, printNext } from './paging.ts';
import { perform, type Task } from './perform.ts';
import { showRun } from './show-run.ts';

type ListOptions = PageOptions & {
  readonly agent?: string;
  readonly status?: RunStatus;
  readonly conversation?: string;
};

/** `hexagent runs list|show|resume|fork|cancel` */
export function runsCommand(host: CommandHost): Command {
  const runs = new Command('runs').description('list, show, resume, fork and cancel runs');
  runs
    .command('list')
    .description('runs, the one that changed last first')
    .option('--agent <name>', 'of this agent')
    .addOption(new Option('--status <status>', 'in this status').choices(RUN_STATUSES))
    .option('--conversation <id>', 'of this conversation')
    .option('--limit <count>', 'at most so many (50)')
    .option('--after <cursor>', 'go on after a page')
    .action(perform<ListOptions>(host, list));
  runs
    .command('show')
    .description('one run: its state, its calls on the ledger, and what it waits for')
    .argument('<run>')
    .action(perform(host, showRun));
  runs
    .command('resume')
    .description('go on with a run, or join it, and show it until it pauses or ends')
    .argument('<run>')
    .option('--after <seq>', 'show events above this number; 0 shows the whole run (what is new)')
    .action(perform<{ readonly after?: string }>(host, resume));
  runs
    .command('fork')
    .description('start a new run from a settled step of this one, and show it')
    .argument('<run>')
    .requiredOption('--at <seq>', 'behind the last step that had ended at this event')
    .option('--instruction <text>', 'what to say to it; without it the model goes on')
    .option('--agent <name>', 'another agent, with the tools that were used so far')
    .action(perform<ForkCommandOptions>(host, forkRun));
  runs
    .command('cancel')
    .description('cancel a run and wait for its end')
    .argument('<run>')
    .option('--reason <text>', 'why')
    .action(perform<{ readonly reason?: string }>(host, cancel));
  return runs;
}

const COLUMNS: readonly Column<RunState>[] = [
  { title: 'RUN', value: ({ runId }) => runId },
  { title: 'AGENT', value: ({ agent }) => agent, flexible: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'REASON', value: ({ reason }) => reason ?? '', flexible: true },
  { title: 'CHANGED', value: ({ statusAt }) => shownInstant(statusAt) },
  { title: 'CONVERSATION', value: ({ conversationId }) => conversationId, flexible: true },
];

async function list({ open, output, options }: Task<ListOptions>): Promise<ExitCode> {
  const { agent, status, conversation } = options;
  const query = {
    ...pageQuery(options),
    ...(agent === undefined ? {} : { agent }),
    ...(status === undefined ? {} : { status }),
    ...(conversation === undefined ? {} : { conversationId: conversation }),
  };
  const { app, caller } = await open({ start: false });
  const page = await app.runs.list(query, caller);
  for (const run of page.items) output.record('run', run);
  printTable(output, page.items, { columns: COLUMNS, empty: 'No runs.' });
  printNext(output, page);
  return EXIT.completed;
}

async function resume(task: Task<{ readonly after?: string }>): Promise<ExitCode> {
  const { open, output, interrupts, args, options } = task;
  const after = options.after === undefined ? undefined : parseCount('after', options.after, 0);
  const opened = await open({ start: true });
  const handle = await opened.app.runs.resume(runIdOf(args[0] ?? ''), opened.caller);
  const onInterrupt = cancelOnInterrupt(opened, { runId: handle.runId, output });
  const { result } = await followRun(handle, { output, interrupts, onInterrupt, after, opened });
  return exitCodeOf(result.kind);
}

async function cancel(task: Task<{ readonly reason?: string }>): Promise<ExitCode> {
  const { open, output, interrupts, args, options } = task;
  const runId = runIdOf(args[0] ?? '');
  const { app, caller } = await open({ start: true });
  await app.runs.cancel(runId, options.reason, caller);
  const handle = await app.runs.resume(runId, caller);
  const onInterrupt = (): void => interrupts.stop(EXIT.interrupted);
  const from = (): boolean => false;
  const { result } = await followRun(handle, { output, interrupts, onInterrupt, from });
  return result.kind === 'cancelled' ? EXIT.completed : exitCodeOf(result.kind);
}
