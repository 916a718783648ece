import { expect, test } from 'vitest';
import { fakeIds } from './fake-ids.ts';

test('ids count on, repeat from source to source, and are safe in a URL', () => {
  const ids = fakeIds();
  expect([ids.next(), ids.next(), ids.next()]).toEqual(['id1', 'id2', 'id3']);
  expect(fakeIds().next()).toBe('id1');
  expect(fakeIds('run').next()).toMatch(/^run[A-Za-z0-9_-]+$/);
});

test('bytes count on from 0 and begin again after 255', () => {
  const ids = fakeIds();
  expect([...ids.bytes(3), ...ids.bytes(2)]).toEqual([0, 1, 2, 3, 4]);
  expect([...ids.bytes(256)].slice(-6)).toEqual([255, 0, 1, 2, 3, 4]);
});
