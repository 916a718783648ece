import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';

/** The blocks of a page that say what a program prints. */
function outputsOf(page: string): readonly string[] {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```text output\n([\s\S]*?)\n```$/gm)].map(
    ([, output]) => output ?? '',
  );
}

test('the example with the published client prints what its page says, line for line', async () => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(String(line)));
  await import('../src/docs/client.ts');
  expect(lines.join('\n')).toBe(outputsOf('docs/ag-ui.md').join('\n'));
});
