import { Migrator } from '@hexagent/agent-core';
import { Command } from 'commander';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';

type MigrateOptions = { readonly dryRun?: boolean };

/** `hexagent migrate` */
export function migrateCommand(host: CommandHost): Command {
  return new Command('migrate')
    .description('bring every store up to date')
    .option('--dry-run', 'only say what would be done')
    .action(perform<MigrateOptions>(host, migrate));
}

async function migrate({ open, output, options, signal }: Task<MigrateOptions>): Promise<ExitCode> {
  const { app } = await open({ start: false });
  const migrators = app.all(Migrator);
  if (migrators.length === 0) output.note('Nothing to migrate: no plugin brings a Migrator.');
  const isDry = options.dryRun === true;
  for (const migrator of migrators) {
    const migrations = isDry
      ? await migrator.pending({ signal })
      : await migrator.migrate({ signal });
    output.record('migrated', { migrator: migrator.name, dryRun: isDry, migrations });
    if (migrations.length === 0) output.line(`${migrator.name}: up to date`);
    for (const name of migrations) {
      output.line(`${migrator.name}: ${name} ${isDry ? 'is pending' : 'applied'}`);
    }
  }
  return EXIT.completed;
}
