import { expect, test } from 'vitest';
import { isSuspended, suspend } from './suspend.ts';

test('knows what suspend answered from anything else', () => {
  const suspended = suspend({ kind: 'timer', at: '2024-01-01T00:00:00Z' });
  expect(isSuspended(suspended)).toBe(true);
  expect(suspended.wait).toEqual({ kind: 'timer', at: '2024-01-01T00:00:00Z' });
  for (const other of [null, undefined, 'x', {}, { wait: suspended.wait }])
    expect(isSuspended(other)).toBe(false);
});
