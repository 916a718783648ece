import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject } from '@hexagent/agent-core';
import type { Terminal } from './terminal.ts';

/** The real `hexagent` command; every call is a process of its own. */
export interface HexagentCommand {
  /** Shows the command and its output; answers the exit code. */
  show(...args: readonly string[]): Promise<number>;
  /** Shows the command, and answers the records that it writes with `--json`. */
  records(...args: readonly string[]): Promise<readonly JsonObject[]>;
}

export function hexagentCommand({
  config,
  folder,
  environment,
  terminal,
}: {
  readonly config: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
}): HexagentCommand {
  const program = programFile();
  const options = { cwd: folder, env: environment };
  const typed = (args: readonly string[]): void =>
    terminal.command(['hexagent', ...args].map(quoted).join(' '));
  return {
    show: async (...args) => {
      typed(args);
      const child = spawn(process.execPath, [program, '--config', config, ...args], {
        ...options,
        // Notes and answer in one place, in the order in which they come.
        stdio: ['ignore', 1, 1],
      });
      const [code] = await once(child, 'close');
      return Number(code ?? 1);
    },

    records: async (...args) => {
      typed(['--json', ...args]);
      const child = spawn(process.execPath, [program, '--json', '--config', config, ...args], {
        ...options,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`hexagent ${args.join(' ')} ended with ${code}:\n${output}`);
      const lines = output.split('\n').filter((line) => line !== '');
      return lines.map((line): unknown => JSON.parse(line)).filter(isJsonObject);
    },
  };
}

/** Where the `bin` of agent-cli is. */
function programFile(): string {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('@hexagent/agent-cli/package.json');
  const { bin } = require(manifest) as { readonly bin: { readonly hexagent: string } };
  return join(dirname(manifest), bin.hexagent);
}

function quoted(word: string): string {
  return /^[\w.:/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
