import { expect, test } from 'vitest';
import { type CleanupTask, runCleanups } from './cleanup.ts';

const task = (targetRef: string, cleanup: CleanupTask['cleanup']): CleanupTask => ({
  target: 'tool-execution',
  targetRef,
  cleanup,
});

test('cleanups run one after the other, and the others also when one throws', async () => {
  const order: string[] = [];
  const slow = (name: string) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
  };
  const outcomes = await runCleanups([
    task('a', slow('a')),
    task('bad', () => Promise.reject(new Error('stuck'))),
    task('odd', () => Promise.reject('no error')),
    task('b', slow('b')),
  ]);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(outcomes).toEqual([
    { target: 'tool-execution', targetRef: 'a', status: 'succeeded' },
    { target: 'tool-execution', targetRef: 'bad', status: 'failed', message: 'stuck' },
    { target: 'tool-execution', targetRef: 'odd', status: 'failed', message: 'no error' },
    { target: 'tool-execution', targetRef: 'b', status: 'succeeded' },
  ]);
});

test('each cleanup gets the signal that it may be stopped by', async () => {
  const control = new AbortController();
  const seen: AbortSignal[] = [];
  const keeps = task('a', async ({ signal }) => void seen.push(signal));
  await runCleanups([keeps], control);
  await runCleanups([keeps]);
  expect(seen[0]).toBe(control.signal);
  expect(seen[1]?.aborted).toBe(false);
});
