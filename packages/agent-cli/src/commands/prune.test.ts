import { expect, test } from 'vitest';
import { commandLine } from '../../test/command-line.ts';

const DAY = 86_400_000;

test('says what would be removed, and removes it when it is meant', async () => {
  const line = await commandLine(['prune', '--older-than', '30d', '--keep', 'evidence', '--yes']);
  expect(await line.done).toBe(0);
  expect(line.configs[0]?.start).toBe(false);
  expect(line.asked).toMatchObject([
    { door: 'prune', with: [{ olderThan: 30 * DAY, keep: 'evidence', dryRun: true }] },
    { door: 'prune', with: [{ olderThan: 30 * DAY, keep: 'evidence' }] },
  ]);
  expect(line.asked[1]?.with[0]).not.toHaveProperty('dryRun');
  expect(line.stderr()).toBe('Removed 3 runs and 40 rows of other logs.\n');
});

test('--dry-run only says it', async () => {
  const line = await commandLine([
    'prune',
    ...['--older-than', '12h', '--keep', 'nothing', '--tenant', 'acme', '--dry-run', '--json'],
  ]);
  expect(await line.done).toBe(0);
  expect(line.asked).toMatchObject([
    { with: [{ olderThan: DAY / 2, keep: 'nothing', scope: { tenantId: 'acme' }, dryRun: true }] },
  ]);
  expect(line.records()).toEqual([
    { type: 'pruned', runs: 3, events: 40, keep: 'nothing', dryRun: true },
  ]);
});

test('asks at a terminal, and removes nothing without a yes', async () => {
  const line = await commandLine(['prune', '--older-than', '8w', '--keep', 'evidence'], {
    terminal: true,
  });
  await line.until('3 ended runs but for the evidence, and 40 old rows');
  line.stdin.write('\n');
  expect(await line.done).toBe(1);
  expect(line.doors()).toEqual(['prune']);
  expect(line.stderr()).toContain('Nothing was done.');
});

test('removes nothing where there is nobody to ask', async () => {
  const line = await commandLine(['prune', '--older-than', '8w', '--keep', 'nothing']);
  line.stdin.end();
  expect(await line.done).toBe(2);
  expect(line.doors()).toEqual(['prune']);
});

test('says when there is nothing so old', async () => {
  const line = await commandLine(['prune', '--older-than', '90d', '--keep', 'nothing'], {
    app: { pruned: { runs: 0, events: 0 } },
  });
  expect(await line.done).toBe(0);
  expect(line.doors()).toEqual(['prune']);
  expect(line.stderr()).toBe('There is nothing so old.\n');
});

test.each([
  [['--keep', 'nothing']],
  [['--older-than', '30d']],
  [['--older-than', '30', '--keep', 'nothing']],
  [['--older-than', '-1d', '--keep', 'nothing']],
  [['--older-than', '1y', '--keep', 'nothing']],
  [['--older-than', '30d', '--keep', 'all']],
])('%j is a usage error', async (options) => {
  const line = await commandLine(['prune', ...options, '--yes']);
  expect(await line.done).toBe(2);
  expect(line.asked).toEqual([]);
});
