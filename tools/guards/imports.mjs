import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';

/** What a file imports, type-only and dynamic imports included: `{ specifier, line }`. */
export function importsOf(root, file) {
  const text = readFileSync(join(root, file), 'utf8');
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    line: text.slice(0, pos).split('\n').length,
  }));
}

/** The file that a relative import means, as a path from the root. */
export function target(file, specifier) {
  return posix.normalize(posix.join(dirname(file), specifier));
}

export const isRelative = (specifier) => specifier.startsWith('./') || specifier.startsWith('../');
