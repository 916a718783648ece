import { expect, test } from 'vitest';
import { retryAfterOf, shouldRetry } from './retry-after.ts';

const headers = (values: Readonly<Record<string, string>>) => ({
  get: (name: string) => values[name] ?? null,
});

test.each([
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT' }, 4000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': 'soon' }, undefined],
  [{}, undefined],
])('%j is %s ms', (values, ms) => {
  expect(retryAfterOf(headers(values), 1000)).toBe(ms);
});

test('a header that is missing may be undefined too', () => {
  expect(retryAfterOf({ get: () => undefined }, 0)).toBeUndefined();
});

test('the server may have its own word on another try', () => {
  const words = ['true', 'false', 'maybe'].map((word) =>
    shouldRetry(headers({ 'x-should-retry': word })),
  );
  expect(words).toEqual([true, false, undefined]);
});
