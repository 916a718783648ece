import { type App, type Caller, definePort, type Port } from '@hexagent/agent-core';
import type { Command } from 'commander';

/** What a contributed command works with. */
export type CliCommandContext = {
  readonly app: App;
  /** The `local` principal. */
  readonly caller: Caller;
  /** The exit code of the process; 0 when it is not called. */
  finish(code: number): void;
};

/** A command that a plugin or the application adds to `hexagent`. A built-in command of the same name wins. */
export interface CliCommand {
  readonly name: string;
  /** Makes the commander command of this name, with its action. */
  create(context: CliCommandContext): Command;
}

/** Commands that a plugin or the application contributes. */
export type CliCommands = readonly CliCommand[];

export const CliCommands: Port<CliCommands, 'many'> = definePort<CliCommands>('cli-commands', {
  arity: 'many',
});
