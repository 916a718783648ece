import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The root of the workspace. */
export const WORKSPACE = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** A folder that is gone when the test is over. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hexagent-workspace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A small tree of files, for a guard to look at. */
export function tree(files: Readonly<Record<string, string>>): string {
  const root = scratch();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

export type Ran = { readonly code: number | null; readonly output: string };

/** Runs a program to its end; no terminal, no input. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Ran {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: options.cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CI: 'true', ...options.env },
  });
  return { code: status, output: `${stdout ?? ''}${stderr ?? ''}${error ?? ''}` };
}

type Rule = {
  readonly check: (
    root: string,
    options: ReadonlySet<string>,
  ) => Promise<{
    readonly problems: readonly string[];
    readonly lines?: readonly string[];
    readonly note?: string;
  }>;
};

/** Asks a guard of `tools/` about a tree. */
export async function ask(
  file: string,
  root: string,
  ...options: readonly string[]
): Promise<{ readonly passes: boolean; readonly output: string }> {
  const { rule }: { readonly rule: Rule } = await import(join(WORKSPACE, 'tools', file));
  const { problems, lines = [], note = '' } = await rule.check(root, new Set(options));
  return { passes: problems.length === 0, output: [...lines, ...problems, note].join('\n') };
}
