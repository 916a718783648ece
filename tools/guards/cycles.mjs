import { filesBelow, isSource, packagesOf } from './files.mjs';
import { command } from './guard.mjs';
import { importsOf, isRelative, target } from './imports.mjs';

/** The import graph of one package: file → the files of the same package that it imports. */
function graphOf(root, folder) {
  const files = new Set(filesBelow(root, `${folder}/src`, isSource));
  return new Map(
    [...files].map((file) => [
      file,
      importsOf(root, file)
        .filter(({ specifier }) => isRelative(specifier))
        .map(({ specifier }) => target(file, specifier))
        .filter((other) => files.has(other)),
    ]),
  );
}

/** One cycle through each file that closes one, found depth first. */
function cyclesIn(graph) {
  const cycles = [];
  const done = new Set();
  const visit = (file, path) => {
    const start = path.indexOf(file);
    if (start !== -1) {
      cycles.push([...path.slice(start), file]);
      return;
    }
    if (done.has(file)) return;
    for (const other of graph.get(file) ?? []) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

export const rule = {
  name: 'cycles',
  help: 'No file of a package imports itself, directly or through others; type-only imports count.',
  check: (root) => ({
    problems: packagesOf(root).flatMap(({ folder }) =>
      cyclesIn(graphOf(root, folder)).map((cycle) => cycle.join(' → ')),
    ),
  }),
};

await command(import.meta, rule);
