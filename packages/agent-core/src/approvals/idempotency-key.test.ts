import { expect, test } from 'vitest';
import { callIdOf, runIdOf } from '../base/ids.ts';
import { idempotencyKey } from './idempotency-key.ts';
import { inputDigest } from './input-digest.ts';

test('digests the arguments, whatever the order of their names', () => {
  expect(inputDigest({ a: 1, b: [2] })).toBe(inputDigest({ b: [2], a: 1 }));
  expect(inputDigest({ a: 1 })).not.toBe(inputDigest({ a: 2 }));
  expect(inputDigest({})).toMatch(/^[0-9a-f]{64}$/);
});

test('keeps the key of a call over retries, and changes it with the run, the call and an edit', () => {
  const call = {
    rootRunId: runIdOf('r1'),
    callId: callIdOf('r1.1.0'),
    inputDigest: inputDigest({ a: 1 }),
  };
  const keys = [
    call,
    { ...call, rootRunId: runIdOf('r2') },
    { ...call, callId: callIdOf('r1.1.1') },
    { ...call, inputDigest: inputDigest({ a: 2 }) },
  ].map(idempotencyKey);
  expect(idempotencyKey({ ...call })).toBe(keys[0]);
  expect(new Set(keys).size).toBe(4);
});
