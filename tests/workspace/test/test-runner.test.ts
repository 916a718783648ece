import { expect, test } from 'vitest';
import { run, WORKSPACE } from './tree.ts';

const runner = (...args: readonly string[]) =>
  run(process.execPath, ['tools/test.mjs', ...args], { cwd: WORKSPACE });

test('ends with the count, alone on the last line', () => {
  const { code, output } = runner('--only', 'sizes');
  expect(output.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed');
  expect(code).toBe(0);
});

test('refuses a stage that it does not have, and names those it has', () => {
  const { code, output } = runner('--only', 'sizes,everything');
  expect(code).toBe(2);
  expect(output).toContain('no stage "everything"');
  expect(output).toContain('layers');
});

test('lists its stages, installing first and the README last', () => {
  const stages = runner('--list').output.trim().split('\n');
  expect(stages[0]).toBe('install');
  expect(stages.at(-1)).toBe('readme commands');
});
