import { expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import type { AgentError } from '../base/error.ts';
import { modelAuthentication, modelOverloaded } from '../base/error-catalog.ts';
import { type RetryPolicy, retrying } from './retrying.ts';

function policy(differences: Partial<RetryPolicy> = {}) {
  const pauses: number[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async (ms, { signal }) => {
      pauses.push(ms);
      signal.throwIfAborted();
    },
  };
  const { signal } = new AbortController();
  return { pauses, options: { retries: 2, clock, random: () => 0, signal, ...differences } };
}

const busy = (retryAfterMs?: number): AgentError =>
  modelOverloaded({ reason: 'busy', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

test('tries again after a retryable error, and gives the number of the try', async () => {
  const { pauses, options } = policy();
  const value = await retrying(async (attempt) => {
    if (attempt < 3) throw busy();
    return attempt;
  }, options);
  expect(value).toBe(3);
  expect(pauses).toEqual([250, 500]);
});

test('throws the last error when the tries are used up', async () => {
  const { pauses, options } = policy({ retries: 1, baseMs: 8, maxMs: 8 });
  const error = busy();
  await expect(retrying(() => Promise.reject(error), options)).rejects.toBe(error);
  expect(pauses).toEqual([4]);
});

test('waits as long as the server asks, but not for ever', async () => {
  const { pauses, options } = policy();
  await retrying(async (attempt) => {
    if (attempt === 1) throw busy(1234);
  }, options);
  expect(pauses).toEqual([1234]);
  const long = busy(3_600_000);
  await expect(retrying(() => Promise.reject(long), options)).rejects.toBe(long);
  expect(pauses).toEqual([1234]);
});

test('throws at once what another try cannot mend', async () => {
  const { pauses, options } = policy();
  for (const error of [modelAuthentication({ reason: 'no' }), new TypeError('a bug')]) {
    await expect(retrying(() => Promise.reject(error), options)).rejects.toBe(error);
  }
  expect(pauses).toEqual([]);
});

test('rejects with the reason of the signal, before the work, after it and in a pause', async () => {
  const reason = new Error('stopped');
  const stopped = new AbortController();
  stopped.abort(reason);
  const refused = policy({ signal: stopped.signal });
  await expect(retrying(async () => 1, refused.options)).rejects.toBe(reason);

  const during = new AbortController();
  const late = policy({ signal: during.signal });
  const work = retrying(async () => {
    during.abort(reason);
    throw busy();
  }, late.options);
  await expect(work).rejects.toBe(reason);
  expect(late.pauses).toEqual([]);
});
