import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, run, tree } from './tree.ts';

const FENCE = '```';

/** A repository with this README; what git ignores is not in the copy that the commands run in. */
function repository(readme: string, files: Readonly<Record<string, string>> = {}): string {
  const root = tree({ 'README.md': readme, '.gitignore': 'made\n', ...files });
  run('git', ['init', '-q'], { cwd: root });
  return root;
}

test('runs the shell fences in a fresh copy, one after another', async () => {
  const root = repository(
    `${FENCE}sh\ntest ! -e made\necho data > made\n${FENCE}\n${FENCE}sh\ntest -e made\n${FENCE}\n`,
    { made: 'in the working tree only' },
  );
  const { passes, output } = await ask('docs/shell-snippets.mjs', root);
  expect(output).toContain('2 shell snippets');
  expect(passes).toBe(true);
  expect(existsSync(join(root, 'made'))).toBe(true);
});

test.each([
  [
    'a command that fails',
    `${FENCE}sh\necho seen; false\n${FENCE}`,
    'README.md:1 ended with 1:\nseen',
  ],
  [
    'a command that needs more than npm',
    `${FENCE}sh no-run reason="x"\npnpm install\n${FENCE}`,
    'needs more than npm',
  ],
  [
    'a fence left out without a reason',
    `${FENCE}sh no-run\nnpm test\n${FENCE}`,
    'no-run needs reason',
  ],
])('refuses %s', async (_, readme, said) => {
  const { passes, output } = await ask('docs/shell-snippets.mjs', repository(readme));
  expect(passes).toBe(false);
  expect(output).toContain(said);
});
