import { type App, type Caller, createWorker } from '@hexagent/agent-core';
import type { Command } from 'commander';
import { chatCommand } from './commands/chat.ts';
import type { CommandHost } from './commands/host.ts';
import { runCommand } from './commands/run.ts';
import { waitsCommand } from './commands/waits.ts';
import { type CliIo, processIo } from './io/cli-io.ts';

export type AgentCommandsOptions = {
  /** Who the commands act as. Default: `app.local('local')`. */
  readonly caller?: Caller;
  /** Default: the process. */
  readonly io?: CliIo;
};

/**
 * `run`, `chat` and `waits` (approvals) for a commander program that is already there, on an application
 * that is already composed and stays open. They set `process.exitCode` as `hexagent` does.
 *
 * @example
 * for (const command of agentCommands(app)) program.addCommand(command);
 */
export function agentCommands(
  app: App,
  { caller = app.local('local'), io = processIo() }: AgentCommandsOptions = {},
): readonly Command[] {
  const host: CommandHost = {
    io,
    open: async ({ signal }) => ({
      app,
      caller: { ...caller, signal },
      createWorker,
      close: async () => undefined,
    }),
    finish: (code) => {
      process.exitCode = code;
    },
  };
  const commands = [runCommand(host), chatCommand(host), waitsCommand(host)];
  for (const command of commands) withCommonOptions(command);
  return commands;
}

function withCommonOptions(command: Command): void {
  for (const child of command.commands) withCommonOptions(child);
  if (command.commands.length > 0) return;
  command
    .option('--json', 'one JSON object a line on stdout, errors too')
    .option('--debug', 'show the stack of an error');
}
