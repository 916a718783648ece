import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sampleWorkspace } from '../src/sample-workspace.ts';

const START = fileURLToPath(new URL('../src/start.ts', import.meta.url));
const TSX = pathToFileURL(
  createRequire(fileURLToPath(new URL('../../../package.json', import.meta.url))).resolve('tsx'),
).href;

export const TOKEN = 'token-of-the-tests-0123456789';

/** What a caller who is known sends with every request. */
export const KNOWN: Readonly<Record<string, string>> = { authorization: `Bearer ${TOKEN}` };

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** The service in a process of its own, from its sources. */
export interface ServiceProcess {
  readonly url: string;
  readonly ended: Promise<Ended>;
  /** Everything that it has printed so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

/** A folder with the sample, and what removes it. */
export function workspaceFolder(): { readonly folder: string; remove(): void } {
  const base = mkdtempSync(join(tmpdir(), 'hexagent-http-service-'));
  const folder = join(base, 'workspace');
  sampleWorkspace(folder);
  return { folder, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** Resolves when it listens; rejects with what it printed when it ends before. */
export async function startService(
  workspace: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--conditions=development', '--import', TSX, START], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      HEXAGENT_MODEL_URL: '',
      HEXAGENT_PORT: '0',
      HEXAGENT_TOKEN: TOKEN,
      HEXAGENT_WORKSPACE: workspace,
      HEXAGENT_PACE_MS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const ended = once(child, 'close').then(
    ([code, signal]): Ended => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }),
  );
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, found] = /listens on (\S+)/.exec(printed) ?? [];
        if (found !== undefined) resolve(found);
      });
    void ended.then(({ code }) => reject(new Error(`It ended with ${code}:\n${printed}`)));
  });
  return { url, ended, output: () => printed, kill: (signal) => void child.kill(signal) };
}
