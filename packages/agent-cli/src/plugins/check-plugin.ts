import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkManifest, isJsonObject, type Manifest } from '@hexagent/agent-core';
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
  const problems = checkManifest(manifest, { at: 'manifest' }).map(
    ({ at, seen, mend }) => `${at} ${seen} ${mend}`,
  );
  if (!isJsonObject(manifest)) return problems;
  for (const [field, wanted] of Object.entries({ name, version })) {
    const found = JSON.stringify(manifest[field]);
    if (manifest[field] !== wanted)
      problems.push(`manifest.${field} is ${found}, the package's is "${wanted}".`);
  }
  return problems;
}
