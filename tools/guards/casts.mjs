import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { filesBelow, isSource } from './files.mjs';
import { command } from './guard.mjs';

const SHOWN = 8;

/** Casts and `any` of a file: `as const` and `satisfies` are none. */
function castsIn(root, path) {
  const file = ts.createSourceFile(
    path,
    readFileSync(join(root, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const casts = [];
  const anys = [];
  const visit = (node) => {
    const line = () => file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) casts.push(line());
    if (ts.isNonNullExpression(node)) casts.push(line());
    if (node.kind === ts.SyntaxKind.AnyKeyword) anys.push(line());
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { path, casts, anys };
}

export const rule = {
  name: 'casts',
  help: 'Fails on `any` in package sources and prints where casts stand outside wire/, most first, as a question.',
  check: (root) => {
    const found = filesBelow(root, 'packages', isSource)
      .filter((file) => file.includes('/src/'))
      .map((file) => castsIn(root, file));
    const outside = found
      .filter(({ path, casts }) => casts.length > 0 && !path.includes('/wire/'))
      .sort((one, two) => two.casts.length - one.casts.length);
    return {
      lines: outside
        .slice(0, SHOWN)
        .map(
          ({ path, casts }) =>
            `${String(casts.length).padStart(5)}  ${path}  lines ${casts.join(', ')}`,
        ),
      problems: found.flatMap(({ path, anys }) => anys.map((line) => `${path}:${line} says any.`)),
      note: `${outside.reduce((sum, { casts }) => sum + casts.length, 0)} casts outside wire/`,
    };
  },
};

await command(import.meta, rule);
