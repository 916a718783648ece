import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { packagesOf } from './files.mjs';
import { command } from './guard.mjs';

const LISTS = 'docs/public-names';

/** Every entry of every package: its source file and the page that lists its names. */
function entriesOf(root) {
  return packagesOf(root).flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter(([entry]) => entry !== './package.json')
      .map(([entry, { development }]) => ({
        entry: posix.join(manifest.name, entry),
        source: posix.join(folder, development),
        list: `${LISTS}/${posix.basename(folder)}${entry.slice(1).replaceAll('/', '.')}.txt`,
      })),
  );
}

/** The names that an entry exports, as `name` or `type Name`; what a reviewed list cannot hold is a problem. */
function namesOf(root, { source }) {
  const text = readFileSync(join(root, source), 'utf8');
  const file = ts.createSourceFile(source, text, ts.ScriptTarget.Latest, true);
  const names = [];
  const problems = [];
  for (const statement of file.statements) {
    const line = file.getLineAndCharacterOfPosition(statement.getStart()).line + 1;
    if (ts.isExportAssignment(statement)) {
      problems.push(`${source}:${line} has a default export: use a name.`);
    } else if (ts.isExportDeclaration(statement)) {
      if (statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause)) {
        problems.push(`${source}:${line} exports everything of a file: name what is public.`);
        continue;
      }
      for (const element of statement.exportClause.elements) {
        const isType = statement.isTypeOnly || element.isTypeOnly;
        names.push(`${isType ? 'type ' : ''}${element.name.text}`);
      }
    } else if (ts.canHaveModifiers(statement)) {
      const exported = ts
        .getModifiers(statement)
        ?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
      if (exported)
        problems.push(`${source}:${line} declares what it exports: an entry only gathers names.`);
    }
  }
  const bare = (name) => name.replace(/^type /, '');
  const order = (name) => `${bare(name).toLowerCase()} ${bare(name)}`;
  names.sort((one, two) => (order(one) < order(two) ? -1 : 1));
  return { names, problems };
}

function check(root, options) {
  const problems = [];
  let total = 0;
  const entries = entriesOf(root);
  for (const entry of entries) {
    if (!existsSync(join(root, entry.source))) {
      problems.push(`${entry.source} is missing: the entry ${entry.entry} has no source.`);
      continue;
    }
    const found = namesOf(root, entry);
    problems.push(...found.problems);
    total += found.names.length;
    if (options.has('--update')) {
      mkdirSync(join(root, LISTS), { recursive: true });
      writeFileSync(join(root, entry.list), `${found.names.join('\n')}\n`);
      continue;
    }
    if (!existsSync(join(root, entry.list))) {
      problems.push(`${entry.list} is missing: run \`npm run names:update\` and have it reviewed.`);
      continue;
    }
    const listed = new Set(
      readFileSync(join(root, entry.list), 'utf8').split('\n').filter(Boolean),
    );
    for (const name of found.names) {
      if (!listed.delete(name)) {
        problems.push(
          `${entry.entry} exports "${name}", which ${entry.list} does not list: a new name is a reviewed line.`,
        );
      }
    }
    for (const name of listed) {
      problems.push(
        `${entry.list} lists "${name}", which ${entry.entry} does not export: removing a name breaks its users.`,
      );
    }
  }
  return { problems, note: `${total} public names of ${entries.length} entries` };
}

export const rule = {
  name: 'public-names',
  help: `Each entry exports exactly the names of its list in ${LISTS}; \`npm run names:update\` rewrites the lists.`,
  check,
};

await command(import.meta, rule);
