import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { configNotFound } from '@hexagent/agent-core';

/** In the order in which they are looked for, in each folder. */
export const CONFIG_NAMES = [
  'hexagent.config.ts',
  'hexagent.config.mts',
  'hexagent.config.js',
  'hexagent.config.mjs',
] as const;

/** The file of `--config`, or the nearest one from a folder upwards. */
export function findConfig({
  cwd,
  config,
}: {
  readonly cwd: string;
  readonly config: string | undefined;
}): string {
  const found = lookForConfig({ cwd, config });
  if (found !== undefined) return found;
  if (config !== undefined) {
    throw configNotFound([resolve(cwd, config)], 'Correct the path of --config.');
  }
  throw configNotFound(
    [`${CONFIG_NAMES.join(', ')} in ${cwd} and the folders above it`],
    'Create hexagent.config.ts whose default export is the argument of bootstrap, or name one with --config.',
  );
}

/** The same; undefined when there is none. */
export function lookForConfig({
  cwd,
  config,
}: {
  readonly cwd: string;
  readonly config: string | undefined;
}): string | undefined {
  if (config !== undefined) {
    const path = resolve(cwd, config);
    return isFile(path) ? path : undefined;
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    for (const name of CONFIG_NAMES) {
      const path = join(folder, name);
      if (isFile(path)) return path;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
