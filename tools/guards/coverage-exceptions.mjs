import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, isSource } from './files.mjs';
import { command } from './guard.mjs';

/** `/* v8 ignore next -- the reason *\/`, with `@preserve` where the compiler would drop the comment. */
function exceptionsIn(root, path) {
  return readFileSync(join(root, path), 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      const found = /\b(?:v8|c8|istanbul) ignore\b([^*]*)/.exec(line);
      if (found === null) return [];
      const reason = found[1].split('--')[1]?.replace('@preserve', '').trim() ?? '';
      return [{ where: `${path}:${at + 1}`, reason }];
    });
}

export const rule = {
  name: 'coverage-exceptions',
  help: 'Lists every branch that is left out of coverage, and refuses one without a reason (`/* v8 ignore next -- reason */`).',
  check: (root) => {
    const found = filesBelow(root, 'packages', isSource)
      .filter((file) => file.includes('/src/'))
      .flatMap((file) => exceptionsIn(root, file));
    return {
      problems: found
        .filter(({ reason }) => reason === '')
        .map(({ where }) => `${where} leaves a branch out of coverage and does not say why.`),
      lines: found
        .filter(({ reason }) => reason !== '')
        .map(({ where, reason }) => `${where}: ${reason}`),
      note: `${found.length} exceptions`,
    };
  },
};

await command(import.meta, rule);
