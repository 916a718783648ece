import { copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, tree, WORKSPACE } from './tree.ts';

const FENCE = '```';

/** A tree with the compiler options of the workspace and the packages that are installed there. */
function pages(files: Readonly<Record<string, string>>): string {
  const root = tree(files);
  copyFileSync(join(WORKSPACE, 'tsconfig.base.json'), join(root, 'tsconfig.base.json'));
  symlinkSync(join(WORKSPACE, 'node_modules'), join(root, 'node_modules'));
  return root;
}

const snippets = (page: string, files: Readonly<Record<string, string>> = {}) =>
  ask(
    'docs/snippets.mjs',
    pages({ 'package.json': '{"type":"module"}', 'README.md': page, ...files }),
  );

describe('snippets', () => {
  test('compiles and runs a fence with the files it imports, against the scripted model, and holds its output', async () => {
    const { passes, output } = await snippets(`
${FENCE}ts file=ask.ts
export async function ask(): Promise<string> {
  const response = await fetch(\`\${process.env.HEXAGENT_MODEL_URL}/chat/completions\`, { method: 'POST', body: '{}' });
  return response.text();
}
${FENCE}

<!-- model [{ "text": "forty two" }] -->
${FENCE}ts
import { ask } from './ask.ts';
console.log(await ask());
${FENCE}

${FENCE}text output
"content":"forty "
"content":"two"
${FENCE}
`);
    expect(output).toContain('1 snippets');
    expect(passes).toBe(true);
  });

  test.each([
    [
      'a fence that does not type-check',
      `${FENCE}ts\nconst a: number = 'x';\n${FENCE}`,
      "Type 'string' is not assignable",
    ],
    [
      'a fence that throws',
      `${FENCE}ts\nthrow new Error('broken example');\n${FENCE}`,
      'broken example',
    ],
    [
      'a fence that prints something else',
      `${FENCE}ts\nconsole.log(1);\n${FENCE}\n${FENCE}text output\n2\n${FENCE}`,
      'did not print "2"',
    ],
    ['a fence left out without a reason', `${FENCE}ts no-run\n${FENCE}`, 'no-run needs reason'],
    [
      'a file that nothing imports',
      `${FENCE}ts file=a.ts\nexport const a = 1;\n${FENCE}`,
      'nothing runs it',
    ],
    [
      'a region of a file that is gone',
      `<!-- region src/gone.ts -->\n${FENCE}ts\n${FENCE}`,
      'does not exist',
    ],
  ])('refuses %s', async (_, page, said) => {
    const { passes, output } = await snippets(page);
    expect(passes).toBe(false);
    expect(output).toContain(said);
  });

  test('prints the reason of a fence that is compiled and not run', async () => {
    const { passes, output } = await snippets(
      `${FENCE}ts no-run reason="needs a real server"\nthrow new Error();\n${FENCE}`,
    );
    expect(passes).toBe(true);
    expect(output).toContain('needs a real server');
  });

  test('holds a shown region equal to its file, and rewrites it on request', async () => {
    const root = pages({
      'README.md': `<!-- region src/main.ts#hello -->\n${FENCE}ts\nold\n${FENCE}\n`,
      'src/main.ts': 'const x = 1;\n  // #region hello\n  const y = 2;\n  // #endregion hello\n',
    });
    expect((await ask('docs/snippets.mjs', root)).output).toContain(
      'differs from src/main.ts#hello',
    );
    await ask('docs/snippets.mjs', root, '--update');
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(
      `${FENCE}ts\nconst y = 2;\n${FENCE}`,
    );
    expect((await ask('docs/snippets.mjs', root)).passes).toBe(true);
  });
});
