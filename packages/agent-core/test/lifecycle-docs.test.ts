import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LIFECYCLE, type LifecycleMove, RUN_STATUSES } from '../src/index.ts';

const word = (text: string): string => `\`${text}\``;

function reasonOf({ reason }: LifecycleMove): string {
  if (reason === undefined) return 'none';
  if (reason === 'given') return 'by the question';
  return reason === 'held' ? '`user-interrupted` if it was held' : word(reason);
}

test('the table of docs/runs.md is the lifecycle, move by move', () => {
  const page = readFileSync(new URL('../../../docs/runs.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Where a run stands\n');
  const rows = section
    .split('\n## ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((text) => text.trim()),
    );
  const moves = RUN_STATUSES.flatMap((status) =>
    Object.entries(LIFECYCLE[status]).map(([event, move]) => [
      word(status),
      word(event),
      word(move.status),
      move.transition === 'given' ? 'by the question' : word(move.transition),
      reasonOf(move),
    ]),
  );
  expect(rows).toEqual(moves);
});
