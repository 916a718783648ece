import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CONTRACT, isJsonObject, type Manifest } from '@hexagent/agent-core';
import type { InstalledPackage } from './installed-plugins.ts';

/** An installed plugin and what is wrong with its manifest; `manifest` is undefined when it has problems. */
export type CheckedPlugin = {
  readonly package: InstalledPackage;
  readonly manifest?: Manifest;
  readonly problems: readonly string[];
};

/** Loads the plugin that a package names, and holds its manifest against the contract and the package. */
export async function checkPlugin(installed: InstalledPackage): Promise<CheckedPlugin> {
  const [file = '', exportName = ''] = installed.plugin.split('#');
  if (file === '' || exportName === '') {
    return {
      package: installed,
      problems: [`"hexagent.plugin" is "${installed.plugin}", not "./file.js#export".`],
    };
  }
  try {
    const url = pathToFileURL(join(installed.folder, file)).href;
    const module = (await import(url)) as Readonly<Record<string, unknown>>;
    const factory = module[exportName] as { readonly manifest?: unknown } | undefined;
    if (factory === undefined) {
      return { package: installed, problems: [`${file} has no export "${exportName}".`] };
    }
    const problems = manifestProblems(factory.manifest, installed);
    return problems.length === 0
      ? { package: installed, manifest: factory.manifest as Manifest, problems }
      : { package: installed, problems };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { package: installed, problems: [`${file} cannot be loaded: ${reason}`] };
  }
}

function manifestProblems(
  manifest: unknown,
  { name, version }: InstalledPackage,
): readonly string[] {
  if (!isJsonObject(manifest)) return ['It has no manifest: make it with definePlugin.'];
  const problems: string[] = [];
  const expect = (
    field: string,
    { isRight, wanted }: { isRight: boolean; wanted: string },
  ): void => {
    if (!isRight)
      problems.push(`manifest.${field} is ${JSON.stringify(manifest[field])}, not ${wanted}.`);
  };
  expect('name', { isRight: manifest['name'] === name, wanted: `the package's "${name}"` });
  expect('version', {
    isRight: manifest['version'] === version,
    wanted: `the package's "${version}"`,
  });
  expect('contract', { isRight: manifest['contract'] === CONTRACT, wanted: `${CONTRACT}` });
  expect('contributes', {
    isRight: isNames(manifest['contributes']),
    wanted: 'a list of port ids',
  });
  expect('requires', { isRight: isNames(manifest['requires']), wanted: 'a list of port ids' });
  expect('options', { isRight: isJsonObject(manifest['options']), wanted: 'a JSON Schema' });
  return problems;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
