import type { Command } from 'commander';
import { CliCommands } from './cli-command.ts';
import type { CommandHost } from './commands/host.ts';
import type { CommonOptions } from './commands/perform.ts';
import { lookForConfig } from './config/find-config.ts';
import type { ExitCode } from './exit-code.ts';
import { hexagentProgram } from './program.ts';

/** The program with the command of this name, as a plugin of the configuration contributes it; undefined when none does. */
export async function contributedProgram(
  host: CommandHost,
  { name, options }: { readonly name: string; readonly options: CommonOptions },
): Promise<{ readonly program: Command; close(): Promise<void> } | undefined> {
  const { config, start = true } = options;
  if (lookForConfig({ cwd: host.io.cwd, config }) === undefined) return undefined;
  const { signal } = new AbortController();
  const { app, caller, close } = await host.open({ start, config, signal });
  const found = app
    .all(CliCommands)
    .flat()
    .find((command) => command.name === name);
  if (found === undefined) {
    await close();
    return undefined;
  }
  const finish = (code: number): void => host.finish(code as ExitCode);
  const program = hexagentProgram(host, [found.create({ app, caller, finish })]);
  return { program, close };
}
