import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

const BIN = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
const CONFIG = fileURLToPath(new URL('hexagent.config.ts', import.meta.url));
const TSX = pathToFileURL(
  createRequire(fileURLToPath(new URL('../../../../package.json', import.meta.url))).resolve('tsx'),
).href;

export type ProcessOptions = {
  readonly cwd: string;
  /** What the model answers, a step a request. */
  readonly steps?: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the configuration beside this file. */
  readonly config?: string | undefined;
};

export type HexagentProcess = {
  readonly child: ChildProcessWithoutNullStreams;
  /** Exit code and output, once it has ended. */
  readonly ended: Promise<Ended>;
  /** Resolves once stdout and stderr together hold the text; rejects when the process ends before. */
  until(text: string): Promise<void>;
};

export type Ended = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The real command in a process of its own, from its sources. */
export function startHexagent(args: readonly string[], options: ProcessOptions): HexagentProcess {
  const { cwd, steps = [], env = {}, config = CONFIG } = options;
  const child = spawn(
    process.execPath,
    ['--conditions=development', '--import', TSX, BIN, '--config', config, ...args],
    {
      cwd,
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        E2E_STEPS: JSON.stringify(steps),
        E2E_STORE: `file:${join(cwd, 'runs.db')}`,
        E2E_WRITES: join(cwd, 'writes.log'),
        ...env,
      },
    },
  );
  // Nothing outlives its test, however the test ends.
  onTestFinished(() => void child.kill('SIGKILL'));
  const seen = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text;
      for (const watcher of watchers) watcher();
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...seen }));
  return {
    child,
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        void ended.then((end) => reject(new Error(`It ended without it: ${JSON.stringify(end)}`)));
        const look = (): void => {
          if (!(seen.stdout + seen.stderr).includes(text)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Runs it to its end. */
export function hexagent(args: readonly string[], options: ProcessOptions): Promise<Ended> {
  const started = startHexagent(args, options);
  started.child.stdin.end();
  return started.ended;
}
