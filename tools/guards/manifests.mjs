import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isFile, packagesOf } from './files.mjs';
import { command } from './guard.mjs';

const isStrings = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** What is wrong with a manifest, seen from its package. */
function manifestProblems(manifest, packageJson) {
  const problems = [];
  const wants = (holds, sentence) => {
    if (!holds) problems.push(sentence);
  };
  wants(
    manifest.name === packageJson.name,
    `name is "${manifest.name}", the package is "${packageJson.name}"`,
  );
  wants(
    manifest.version === packageJson.version,
    `version is "${manifest.version}", the package is "${packageJson.version}"`,
  );
  wants(manifest.contract === 1, `contract is ${manifest.contract}, the edition is 1`);
  wants(isStrings(manifest.contributes), 'contributes is not a list of port ids');
  wants(isStrings(manifest.requires), 'requires is not a list of port ids');
  wants(
    typeof manifest.options === 'object' && manifest.options?.type === 'object',
    'options is not a JSON Schema of an object',
  );
  wants(
    JSON.stringify(manifest) !== undefined &&
      Object.values(manifest).every((value) => typeof value !== 'function'),
    'it is not plain data',
  );
  return problems;
}

/** The core's own check, the one that bootstrap runs; a tree without agent-core has none. */
async function coreCheck(root) {
  const file = 'packages/agent-core/dist/bootstrap/check-manifest.js';
  if (!isFile(root, file)) return () => [];
  const { checkManifest } = await import(pathToFileURL(join(root, file)).href);
  return (manifest) =>
    checkManifest(manifest).map(({ at, seen, mend }) => `${at}: ${seen} ${mend}`);
}

async function problemsOf(root, { folder, manifest: packageJson }, check) {
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
  return [...manifestProblems(manifest, packageJson), ...check(manifest)].map(
    (problem) => `${folder}: the manifest of "${name}": ${problem}.`,
  );
}

export const rule = {
  name: 'manifests',
  help: "Each adapter's `hexagent` field loads, and its manifest passes the core's check and matches its package.",
  check: async (root) => {
    const check = await coreCheck(root);
    const adapters = packagesOf(root).filter(({ folder }) => folder !== 'packages/agent-core');
    const problems = [];
    for (const adapter of adapters) {
      try {
        problems.push(...(await problemsOf(root, adapter, check)));
      } catch (cause) {
        problems.push(`${adapter.folder}: its plugin does not load: ${cause.message}.`);
      }
    }
    return { problems, note: `${adapters.length} manifests` };
  },
};

await command(import.meta, rule);
