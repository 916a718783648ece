import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** A package whose `package.json` says where its plugin is. */
export type InstalledPackage = {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** `./dist/index.js#kyselyStore` */
  readonly plugin: string;
};

/**
 * Every installed package with a `hexagent` field, as Node would find it from a folder: the nearest of
 * one name wins. Sorted by name.
 */
export async function installedPackages(from: string): Promise<readonly InstalledPackage[]> {
  const found = new Map<string, InstalledPackage>();
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    for (const installed of await packagesIn(join(folder, 'node_modules'))) {
      if (!found.has(installed.name)) found.set(installed.name, installed);
    }
    if (folder === dirname(folder)) break;
  }
  return [...found.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function packagesIn(modules: string): Promise<readonly InstalledPackage[]> {
  const folders: string[] = [];
  for (const { name } of await entriesOf(modules)) {
    if (name.startsWith('.')) continue;
    if (!name.startsWith('@')) folders.push(join(modules, name));
    else {
      const scoped = await entriesOf(join(modules, name));
      folders.push(...scoped.map((entry) => join(modules, name, entry.name)));
    }
  }
  const read = await Promise.all(folders.map(readPackage));
  return read.filter((installed) => installed !== undefined);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function readPackage(folder: string): Promise<InstalledPackage | undefined> {
  try {
    const content = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      readonly name?: unknown;
      readonly version?: unknown;
      readonly hexagent?: { readonly plugin?: unknown };
    };
    const plugin = content.hexagent?.plugin;
    if (plugin === undefined) return undefined;
    return {
      folder,
      name: String(content.name),
      version: String(content.version),
      plugin: String(plugin),
    };
  } catch {
    return undefined;
  }
}
