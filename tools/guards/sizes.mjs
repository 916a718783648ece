import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, isSource } from './files.mjs';
import { command } from './guard.mjs';

const ASK_PAST = 300;
const SHOWN = 12;

export const rule = {
  name: 'sizes',
  help: `Prints the largest source files, as a question (past ${ASK_PAST} lines: which second noun lives there?); never fails.`,
  check: (root) => {
    const files = filesBelow(
      root,
      'packages',
      (name) => isSource(name) && !name.endsWith('.gen.ts'),
    )
      .filter((file) => file.includes('/src/'))
      .map((file) => ({
        file,
        lines: readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length,
      }))
      .sort((one, two) => two.lines - one.lines);
    const shown = files
      .slice(0, SHOWN)
      .map(
        ({ file, lines }) =>
          `${String(lines).padStart(5)}  ${file}${lines > ASK_PAST ? '  does a second noun live here?' : ''}`,
      );
    return { problems: [], lines: shown, note: `${files.length} source files` };
  },
};

await command(import.meta, rule);
