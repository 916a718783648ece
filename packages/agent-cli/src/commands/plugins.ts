import { dirname } from 'node:path';
import { Command } from 'commander';
import { lookForConfig } from '../config/find-config.ts';
import { loadConfig } from '../config/load-config.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type CheckedPlugin, checkPlugin } from '../plugins/check-plugin.ts';
import { installedPackages } from '../plugins/installed-plugins.ts';
import { type Column, printTable } from '../render/table.ts';
import type { CommandHost } from './host.ts';
import { perform, type Task } from './perform.ts';

/** `hexagent plugins` */
export function pluginsCommand(host: CommandHost): Command {
  return new Command('plugins')
    .description('list the installed plugins and check their manifests')
    .action(perform(host, plugins));
}

type Row = CheckedPlugin & { readonly isUsed: boolean };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'PLUGIN', value: (row) => row.package.name },
  { title: 'VERSION', value: (row) => row.package.version },
  { title: 'IN USE', value: ({ isUsed }) => (isUsed ? 'yes' : 'no') },
  { title: 'CONTRIBUTES', value: ({ manifest }) => manifest?.contributes.join(', ') ?? '' },
  {
    title: 'MANIFEST',
    value: ({ problems }) => (problems.length === 0 ? 'ok' : problems.join(' ')),
    flexible: true,
  },
];

/** Nothing is set up: what is installed can be looked at also when the database cannot. */
async function plugins({ io, output, options }: Task<object>): Promise<ExitCode> {
  const { config } = options;
  const path = lookForConfig({ cwd: io.cwd, config });
  const installed = await installedPackages(path === undefined ? io.cwd : dirname(path));
  const used = path === undefined ? [] : (await loadConfig(path)).plugins;
  const names = new Set(used.map(({ manifest }) => manifest.name));
  const checked = await Promise.all(installed.map(checkPlugin));
  const rows = checked.map(
    (plugin): Row => ({ ...plugin, isUsed: names.has(plugin.package.name) }),
  );
  for (const {
    package: { name, version, plugin },
    manifest,
    isUsed,
    problems,
  } of rows) {
    output.record('plugin', {
      name,
      version,
      plugin,
      isUsed,
      problems,
      ...(manifest && { manifest }),
    });
  }
  printTable(output, rows, { columns: COLUMNS, empty: 'No plugin is installed.' });
  return rows.every(({ problems }) => problems.length === 0) ? EXIT.completed : EXIT.error;
}
