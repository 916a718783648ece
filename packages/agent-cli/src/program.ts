import { Command } from 'commander';
import { chatCommand } from './commands/chat.ts';
import { doctorCommand } from './commands/doctor.ts';
import { evidenceCommand } from './commands/evidence.ts';
import { grantsCommand } from './commands/grants.ts';
import type { CommandHost } from './commands/host.ts';
import { migrateCommand } from './commands/migrate.ts';
import { pluginsCommand } from './commands/plugins.ts';
import { pruneCommand } from './commands/prune.ts';
import { runCommand } from './commands/run.ts';
import { runsCommand } from './commands/runs.ts';
import { signalCommand } from './commands/signal.ts';
import { waitsCommand } from './commands/waits.ts';
import { workerCommand } from './commands/worker.ts';
import { version } from './version.ts';

const EXIT_CODES = `
Exit codes:
    0  done: the run completed, the list was printed, the answer was stored
    1  an error: it could not be done
    2  the command line is wrong
    3  the run is paused and waits for an answer
    4  the run failed
    5  the run was cancelled (by the first Ctrl-C too)
  130  left by Ctrl-C before the run had ended
  141  whoever read the output has left
  143  ended by SIGTERM
`;

/** The whole `hexagent` command, with commands that plugins contribute behind the built-in ones. */
export function hexagentProgram(host: CommandHost, contributed: readonly Command[] = []): Command {
  const { stdout } = host.io;
  const program = new Command('hexagent')
    .description('Run and look after the agents of a hexagent.config.ts.')
    .version(version)
    .option('--json', 'one JSON object a line on stdout, errors too')
    .option('--config <path>', 'the configuration (nearest hexagent.config.{ts,mts,js,mjs})')
    .option('--no-start', 'start nothing that plugins would start, such as an HTTP host')
    .option('--debug', 'show the stack of an error')
    .addHelpText('after', EXIT_CODES);
  const commands = [
    runCommand(host),
    chatCommand(host),
    runsCommand(host),
    waitsCommand(host),
    grantsCommand(host),
    signalCommand(host),
    evidenceCommand(host),
    pruneCommand(host),
    pluginsCommand(host),
    doctorCommand(host),
    migrateCommand(host),
    workerCommand(host),
    ...contributed,
  ];
  for (const command of commands) program.addCommand(command);
  everyCommand(program, (command) => {
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: () => undefined,
      });
  });
  return program;
}

function everyCommand(command: Command, change: (command: Command) => void): void {
  change(command);
  for (const child of command.commands) everyCommand(child, change);
}
