import { expect, test } from 'vitest';
import { unifiedDiff } from './diff.ts';

const lines = (...items: readonly (string | number)[]): string =>
  items.map((item) => `${item}\n`).join('');
const numbered = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

test('the same text has no difference', () => {
  expect(unifiedDiff('a\n', 'a\n')).toEqual([]);
});

test('a new file is all additions', () => {
  expect(unifiedDiff('', lines('a', 'b'))).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b']);
});

test('an emptied file is all removals', () => {
  expect(unifiedDiff(lines('a'), '')).toEqual(['@@ -1,1 +0,0 @@', '-a']);
});

test('a changed line has three lines of context on either side', () => {
  const before = numbered(9);
  expect(unifiedDiff(lines(...before), lines(...before.with(4, 50)))).toEqual([
    '@@ -2,7 +2,7 @@',
    ' 2',
    ' 3',
    ' 4',
    '-5',
    '+50',
    ' 6',
    ' 7',
    ' 8',
  ]);
});

test('far changes have hunks of their own, near ones share one', () => {
  const before = numbered(30);
  const far = unifiedDiff(lines(...before), lines(...before.with(2, 0).with(25, 0)));
  expect(far.filter((line) => line.startsWith('@@'))).toEqual([
    '@@ -1,6 +1,6 @@',
    '@@ -23,7 +23,7 @@',
  ]);
  const near = unifiedDiff(lines(...before), lines(...before.with(10, 0).with(14, 0)));
  expect(near.filter((line) => line.startsWith('@@'))).toEqual(['@@ -8,11 +8,11 @@']);
});

test('moved and inserted lines are found by their longest common part', () => {
  expect(unifiedDiff(lines('a', 'b', 'c', 'd'), lines('x', 'b', 'c', 'y', 'd', 'e'))).toEqual([
    '@@ -1,4 +1,6 @@',
    '-a',
    '+x',
    ' b',
    ' c',
    '+y',
    ' d',
    '+e',
  ]);
});

test('a missing line feed at the end is a difference', () => {
  expect(unifiedDiff('a\n', 'a')).toEqual([
    '@@ -1,1 +1,1 @@',
    '-a',
    '+a',
    '\\ No newline at end of file',
  ]);
});

test('texts that are too different to compare are replaced as a whole', () => {
  const before = lines(...numbered(2_100).map((n) => `a${n}`));
  const after = lines(...numbered(2_100).map((n) => `b${n}`));
  expect(unifiedDiff(before, after)).toHaveLength(4_201);
});
