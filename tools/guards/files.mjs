import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const LEFT_OUT = new Set(['node_modules', 'dist', 'coverage', '.git', '.turbo', 'api', 'out']);

/** Every file below a folder, as paths from the root with forward slashes; built and installed ones left out. */
export function filesBelow(root, folder, wanted = () => true) {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  const found = [];
  const walk = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (!LEFT_OUT.has(entry.name)) walk(path);
      } else if (wanted(entry.name)) found.push(relative(root, path).split(sep).join('/'));
    }
  };
  walk(start);
  return found.sort();
}

/** TypeScript that is built and published: no tests, no declarations. */
export const isSource = (name) => name.endsWith('.ts') && !/\.(test|test-d|d)\.ts$/.test(name);

/** The published packages: `{ folder, manifest }`, by folder name. */
export function packagesOf(root) {
  const base = join(root, 'packages');
  if (!existsSync(base)) return [];
  return readdirSync(base)
    .sort()
    .filter((name) => existsSync(join(base, name, 'package.json')))
    .map((name) => ({
      folder: `packages/${name}`,
      manifest: JSON.parse(readFileSync(join(base, name, 'package.json'), 'utf8')),
    }));
}

/** The pages that readers see: READMEs and docs of the whole workspace. */
export function pagesOf(root) {
  const top = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].filter((page) =>
    existsSync(join(root, page)),
  );
  const below = ['docs', 'packages', 'examples', 'benchmarks', 'tests'].flatMap((folder) =>
    filesBelow(root, folder, (name) => name.endsWith('.md') && name !== 'CHANGELOG.md'),
  );
  return [...top, ...below];
}

/** Whether a path from the root is a file that stands there. */
export const isFile = (root, path) =>
  existsSync(join(root, path)) && statSync(join(root, path)).isFile();
