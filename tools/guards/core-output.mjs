import { posix } from 'node:path';
import { isFile, packagesOf } from './files.mjs';
import { command } from './guard.mjs';
import { importsOf, isRelative, target } from './imports.mjs';

/** A declaration file is asked for by the name of its JavaScript. */
function builtFile(root, from, specifier) {
  const named = target(from, specifier);
  if (!from.endsWith('.d.ts')) return named;
  const declared = named.replace(/\.(js|ts)$/, '.d.ts');
  return isFile(root, declared) ? declared : named;
}

export const rule = {
  name: 'core-output',
  help: 'The built files of agent-core, walked from its entries, import neither a package nor a Node built-in.',
  check: (root) => {
    const core = packagesOf(root).find(({ folder }) => folder === 'packages/agent-core');
    if (core === undefined) return { problems: ['packages/agent-core is missing.'] };
    const entries = Object.values(core.manifest.publishConfig?.exports ?? {})
      .filter((entry) => typeof entry === 'object')
      .flatMap((entry) => [entry.default, entry.types])
      .map((path) => posix.join(core.folder, path));
    const problems = [];
    const seen = new Set();
    const queue = [...entries];
    while (queue.length > 0) {
      const file = queue.pop();
      if (seen.has(file)) continue;
      seen.add(file);
      if (!isFile(root, file)) {
        problems.push(`${file} is not built: run \`npm run build\`.`);
        continue;
      }
      for (const { specifier, line } of importsOf(root, file)) {
        if (isRelative(specifier)) queue.push(builtFile(root, file, specifier));
        else problems.push(`${file}:${line} imports "${specifier}".`);
      }
    }
    return { problems, note: `${seen.size} built files from ${entries.length} entry files` };
  },
};

await command(import.meta, rule);
