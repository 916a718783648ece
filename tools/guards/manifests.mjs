import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { isFile, packagesOf } from './files.mjs';
import { command, WORKSPACE } from './guard.mjs';

/** The check that bootstrap runs, and that the manifest is its package's own. */
function manifestProblems(manifest, { name, version }, checkManifest) {
  const problems = checkManifest(manifest, { at: 'manifest' }).map(
    ({ at, seen, mend }) => `${at} ${seen} ${mend}`,
  );
  for (const [field, wanted] of Object.entries({ name, version })) {
    if (manifest[field] !== wanted) {
      problems.push(`${field} is "${manifest[field]}", the package's is "${wanted}".`);
    }
  }
  return problems;
}

async function problemsOf(root, { folder, manifest: packageJson }, checkManifest) {
  const where = packageJson.hexagent?.plugin;
  if (typeof where !== 'string' || !where.includes('#')) {
    return [`${folder}/package.json has no "hexagent": { "plugin": "./dist/index.js#name" }.`];
  }
  const [path, name] = where.split('#');
  const file = posix.join(folder, path);
  if (!isFile(root, file)) return [`${file} is not built: run \`npm run build\`.`];
  const loaded = await import(pathToFileURL(join(root, file)).href);
  const manifest = loaded[name]?.manifest;
  if (typeof manifest !== 'object' || manifest === null) {
    return [`${file} exports no plugin "${name}" with a manifest.`];
  }
  return manifestProblems(manifest, packageJson, checkManifest).map(
    (problem) => `${folder}: the manifest of "${name}": ${problem}`,
  );
}

export const rule = {
  name: 'manifests',
  help: "Each adapter's `hexagent` field loads, and its manifest passes the core's check and matches its package.",
  check: async (root) => {
    const core = join(WORKSPACE, 'packages/agent-core/src/bootstrap/check-manifest.ts');
    const { checkManifest } = await tsImport(core, import.meta.url);
    const adapters = packagesOf(root).filter(({ folder }) => folder !== 'packages/agent-core');
    const problems = [];
    for (const adapter of adapters) {
      try {
        problems.push(...(await problemsOf(root, adapter, checkManifest)));
      } catch (cause) {
        problems.push(`${adapter.folder}: its plugin does not load: ${cause.message}.`);
      }
    }
    return { problems, note: `${adapters.length} manifests` };
  },
};

await command(import.meta, rule);
