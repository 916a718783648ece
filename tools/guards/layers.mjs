import { filesBelow, isSource, packagesOf } from './files.mjs';
import { command } from './guard.mjs';
import { importsOf, isRelative, target } from './imports.mjs';

// ARCHITECTURE.md, "Layers of agent-core", from the ground up. Folders of one floor do not see each other.
const FLOORS = [
  ['base'],
  ['vocabulary'],
  ['events', 'guard'],
  ['model', 'tools', 'durable', 'signals'],
  ['approvals', 'sources', 'wire'],
  ['definition'],
  ['context', 'delegation'],
  ['runner'],
  ['gateway'],
  ['transport'],
  ['bootstrap'],
  ['testing'],
];
const RANK = new Map(FLOORS.flatMap((folders, rank) => folders.map((folder) => [folder, rank])));

const CORE = 'packages/agent-core/src/';
// Entries gather names from every floor; everything else imports the file itself.
const ENTRIES = new Set(['index.ts', 'wire/index.ts', 'testing/index.ts']);

function coreProblems(root) {
  const problems = [];
  for (const file of filesBelow(root, CORE, isSource)) {
    const inside = file.slice(CORE.length);
    const folder = inside.split('/')[0];
    if (ENTRIES.has(inside)) continue;
    if (!RANK.has(folder)) {
      problems.push(
        `${file} stands in no layer: put it into one of the folders of ARCHITECTURE.md.`,
      );
      continue;
    }
    for (const { specifier, line } of importsOf(root, file)) {
      const where = `${file}:${line}`;
      if (!isRelative(specifier)) {
        problems.push(
          `${where} imports "${specifier}": agent-core has no dependency, not even a Node built-in.`,
        );
        continue;
      }
      const other = target(file, specifier);
      if (!other.startsWith(CORE)) {
        problems.push(`${where} imports "${specifier}", which is outside agent-core/src.`);
        continue;
      }
      const otherInside = other.slice(CORE.length);
      const otherFolder = otherInside.split('/')[0];
      if (ENTRIES.has(otherInside)) {
        problems.push(`${where} imports the entry ${otherInside}: import the file itself.`);
      } else if (folder !== otherFolder && RANK.has(otherFolder)) {
        const up = RANK.get(otherFolder) - RANK.get(folder);
        if (up > 0)
          problems.push(
            `${where}: ${folder}/ imports upwards from ${otherFolder}/ (${specifier}).`,
          );
        if (up === 0)
          problems.push(`${where}: ${folder}/ imports its sibling ${otherFolder}/ (${specifier}).`);
      }
    }
  }
  return problems;
}

function adapterProblems(root) {
  const packages = packagesOf(root);
  const core = packages.find(({ folder }) => folder === 'packages/agent-core');
  const entries = new Set(
    Object.keys(core?.manifest.exports ?? {})
      .filter((entry) => entry !== './package.json')
      .map((entry) => `@hexagent/agent-core${entry.slice(1)}`),
  );
  const problems = [];
  for (const { folder } of packages.filter((each) => each !== core)) {
    for (const file of filesBelow(root, `${folder}/src`, isSource)) {
      for (const { specifier, line } of importsOf(root, file)) {
        const where = `${file}:${line}`;
        if (isRelative(specifier)) {
          if (!target(file, specifier).startsWith(`${folder}/src/`)) {
            problems.push(`${where} imports "${specifier}", which is outside its own package.`);
          }
        } else if (specifier.startsWith('@hexagent/agent-core')) {
          if (!entries.has(specifier)) {
            problems.push(
              `${where} imports "${specifier}": only ${[...entries].join(', ')} are public.`,
            );
          }
        } else if (specifier.startsWith('@hexagent/')) {
          problems.push(
            `${where} imports "${specifier}": adapters meet in bootstrap, never in an import.`,
          );
        }
      }
    }
  }
  return problems;
}

export const rule = {
  name: 'layers',
  help: 'Imports in agent-core point only downwards and never to a sibling; adapters import core through its public entries and never each other.',
  check: (root) => ({ problems: [...coreProblems(root), ...adapterProblems(root)] }),
};

await command(import.meta, rule);
