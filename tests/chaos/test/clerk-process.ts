import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { onTestFinished } from 'vitest';
import type { ClerkOrder, ClerkSaid } from '../src/clerk-process.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = join(ROOT, 'dist/clerk-process.js');

/** Makes one file of the program and the packages' sources: dozens of processes start it. */
export async function buildClerk(): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, resolve: { conditions: ['development'] } },
    build: { ssr: 'src/clerk-process.ts', outDir: 'dist', target: 'node20' },
  });
}

/** A process of its own that works on the order. */
export type ClerkProcess = {
  readonly child: ChildProcess;
  /** Line by line, as it says it. */
  readonly lines: AsyncIterable<ClerkSaid>;
  /** Resolves with what it has said when it is gone; rejects when it failed. */
  readonly ended: Promise<readonly ClerkSaid[]>;
};

export function startClerk(order: ClerkOrder): ClerkProcess {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaints += text;
  });
  const closed = once(child, 'close');
  const said: ClerkSaid[] = [];
  const lines = (async function* () {
    for await (const line of createInterface({ input: child.stdout })) {
      const message: ClerkSaid = JSON.parse(line);
      said.push(message);
      yield message;
    }
  })();
  const ended = async (): Promise<readonly ClerkSaid[]> => {
    for await (const _ of lines);
    const [code, signal] = await closed;
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`exit ${code}: ${complaints}`);
    return said;
  };
  return {
    child,
    lines,
    get ended() {
      return ended();
    },
  };
}
