import { type Command, CommanderError } from 'commander';
import type { CommandHost } from './commands/host.ts';
import { configHost } from './config/config-host.ts';
import type { Bootstrap } from './config/core-of-config.ts';
import { contributedProgram } from './contributed-program.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { type CliIo, processIo } from './io/cli-io.ts';
import { hexagentProgram } from './program.ts';
import { printError, printOutputFailed } from './render/error-view.ts';
import { type Output, openOutput } from './render/output.ts';
import { UsageError } from './usage-error.ts';

export type MainOptions = {
  readonly io?: CliIo;
  readonly bootstrap?: Bootstrap;
};

/** Runs one command line (without the program's own name) and answers the exit code. Never rejects. */
export async function main(
  argv: readonly string[],
  { io = processIo(), bootstrap }: MainOptions = {},
): Promise<ExitCode> {
  let code: ExitCode = EXIT.completed;
  let failure: Error | undefined;
  const finish = (finished: ExitCode): void => {
    code = finished;
  };
  const host = configHost(io, bootstrap === undefined ? { finish } : { finish, bootstrap });
  const output = openOutput(io, {
    json: argv.includes('--json'),
    onClosed: () => finish(EXIT.outputClosed),
    onFailed: (error) => {
      failure = error;
    },
  });
  const program = hexagentProgram(host);
  try {
    await parse(program, { argv, host });
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0))
      finish(refuse(output, { argv, error, program }));
    await output.flushed();
    if (failure !== undefined) {
      printOutputFailed(io, failure);
      finish(EXIT.error);
    }
  } finally {
    output.release();
  }
  return code;
}

/** A command that is not built in may be one that a plugin of the configuration contributes. */
async function parse(
  program: Command,
  { argv, host }: { readonly argv: readonly string[]; readonly host: CommandHost },
): Promise<void> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    const [name] = program.args;
    const isUnknown = error instanceof CommanderError && error.code === 'commander.unknownCommand';
    const isBuiltIn = program.commands.some((command) => command.name() === name);
    if (!isUnknown || isBuiltIn || name === undefined) throw error;
    const contributed = await contributedProgram(host, { name, options: program.opts() });
    if (contributed === undefined) throw error;
    try {
      await contributed.program.parseAsync([...argv], { from: 'user' });
    } finally {
      await contributed.close();
    }
  }
}

/** What commander refuses never reached a command: it is said in the same form as every other error. */
function refuse(
  output: Output,
  {
    argv,
    error,
    program,
  }: { readonly argv: readonly string[]; readonly error: unknown; readonly program: Command },
): ExitCode {
  printError(
    output,
    error instanceof CommanderError ? usageErrorOf(error, namedCommand(program)) : error,
    {
      debug: argv.includes('--debug'),
    },
  );
  return error instanceof CommanderError || error instanceof UsageError ? EXIT.usage : EXIT.error;
}

function usageErrorOf(error: CommanderError, named: Command): UsageError {
  const help = `${pathOf(named)} --help`;
  if (error.code === 'commander.help')
    return new UsageError('No command was given.', `${help} lists the commands.`);
  const message = error.message.replace(/^error: /, '').trim();
  return new UsageError(
    message,
    named.commands.length > 0 ? `${help} lists the commands.` : `${help} shows how it is used.`,
  );
}

/** The command that a refused command line had come to. */
function namedCommand(command: Command): Command {
  const [name] = command.args;
  const child = command.commands.find((one) => one.name() === name);
  return child === undefined ? command : namedCommand(child);
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}
