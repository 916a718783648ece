import { Command, Option } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { counted } from '../render/counted.ts';
import { UsageError } from '../usage-error.ts';
import { confirmed } from './confirm.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';

type PruneCommandOptions = {
  readonly olderThan: string;
  readonly keep: 'evidence' | 'nothing';
  readonly tenant?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
};

/** `hexagent prune` */
export function pruneCommand(host: CommandHost): Command {
  return new Command('prune')
    .description('remove runs that ended long ago, and old events of the ones that go on')
    .requiredOption('--older-than <age>', 'of what has not changed for so long: 12h, 30d, 8w')
    .addOption(
      new Option('--keep <what>', 'of a run that has ended')
        .choices(['evidence', 'nothing'])
        .makeOptionMandatory(),
    )
    .option('--tenant <id>', 'of this tenant (local)')
    .option('--dry-run', 'only say what would be removed')
    .option('--yes', 'remove without being asked again')
    .action(perform<PruneCommandOptions>(host, prune));
}

async function prune(task: Task<PruneCommandOptions>): Promise<ExitCode> {
  const { output, options, signal } = task;
  const { keep, tenant, dryRun = false, yes = false } = options;
  const given = {
    olderThan: milliseconds(options.olderThan),
    keep,
    signal,
    ...(tenant === undefined ? {} : { scope: { tenantId: tenant } }),
  };
  const { app } = await task.open({ start: false });
  // Counted first, also when it is meant: whoever is asked sees what it would be.
  const found = await app.prune({ ...given, dryRun: true });
  const what = `${counted(found.runs, 'ended run')}${keep === 'evidence' ? ' but for the evidence' : ''}, and ${counted(found.events, 'old row')} of the logs of other runs`;
  if (dryRun) {
    output.record('pruned', { ...found, keep, dryRun });
    output.note(`Would remove ${what}.`);
    return EXIT.completed;
  }
  if (found.runs + found.events === 0) {
    output.record('pruned', { ...found, keep, dryRun });
    output.note('There is nothing so old.');
    return EXIT.completed;
  }
  if (!(await confirmed(task, { question: `Remove ${what}, for ever?`, yes }))) return EXIT.error;
  const removed = await app.prune(given);
  output.record('pruned', { ...removed, keep, dryRun });
  output.note(
    output.style.good(
      `Removed ${counted(removed.runs, 'run')} and ${counted(removed.events, 'row')} of other logs.`,
    ),
  );
  return EXIT.completed;
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function milliseconds(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const size = UNITS[unit ?? ''];
  if (size !== undefined) return Number(count) * size;
  throw new UsageError(
    `--older-than must be a whole number and a unit, not ${JSON.stringify(text)}.`,
    'For example --older-than 30d; the units are s, m, h, d and w.',
  );
}
