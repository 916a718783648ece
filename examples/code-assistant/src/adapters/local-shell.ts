import { realpathSync } from 'node:fs';
import type { Shell } from '../ports/shell.ts';
import { confinedPath } from './confined-path.ts';
import { reducedEnvironment } from './reduced-environment.ts';
import { runProgram } from './run-program.ts';

export type LocalShellOptions = {
  /** The only programs that may run, by the exact name; default any. */
  readonly allow?: readonly string[];
  /** Added to the reduced environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The default, and the most, that a command may take. Default 60 seconds. */
  readonly timeoutMs?: number;
  /** For each of the two streams. Default 24 KiB: both fit into a tool result. */
  readonly maxOutputBytes?: number;
};

/** Runs programs in a folder: no shell string, a reduced environment, nothing left running. */
export function localShell(root: string, options: LocalShellOptions = {}): Shell {
  const { allow, environment, timeoutMs = 60_000, maxOutputBytes = 24_576 } = options;
  const top = realpathSync(root);
  return {
    run: async ({ command, args, folder = '.', timeoutMs: asked = timeoutMs }, stop) => {
      assertCommand(command, args);
      if (allow !== undefined && !allow.includes(command)) {
        throw new Error(`"${command}" is not allowed here. Allowed programs: ${allow.join(', ')}.`);
      }
      const place = await confinedPath(top, folder);
      if (!place.exists)
        throw new Error(`There is no folder "${place.path}" to run "${command}" in.`);
      return runProgram(
        {
          command,
          args,
          folder: place.absolute,
          environment: reducedEnvironment(environment),
          timeoutMs: Math.min(asked, timeoutMs),
          maxOutputBytes,
        },
        stop,
      );
    },
  };
}

function assertCommand(command: string, args: readonly string[]): void {
  if (command.trim() === '') throw new Error('The command is empty. Name the program to run.');
  if ([command, ...args].some((word) => word.includes('\0'))) {
    throw new Error(`The arguments of "${command.replaceAll('\0', '␀')}" contain a NUL character.`);
  }
}
