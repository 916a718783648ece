import { expect, test } from 'vitest';
import { overflowOf } from './context-overflow.ts';
import { faultError, httpError } from './http-error.ts';

const context = { at: 'http://m/v1/chat', secrets: ['sk-1'], now: 0 } as const;

function error(
  status: number,
  body = '{"error":{"message":"no"}}',
  headers: Readonly<Record<string, string>> = {},
) {
  return httpError({ status, body, headers: { get: (name) => headers[name] } }, context);
}

test.each([
  [307, 'MODEL_REQUEST_INVALID', false],
  [400, 'MODEL_REQUEST_INVALID', false],
  [401, 'MODEL_AUTHENTICATION', false],
  [402, 'MODEL_RATE_LIMITED', false],
  [403, 'MODEL_AUTHENTICATION', false],
  [404, 'MODEL_NOT_FOUND', false],
  [408, 'MODEL_TIMEOUT', true],
  [409, 'MODEL_OVERLOADED', true],
  [422, 'MODEL_REQUEST_INVALID', false],
  [425, 'MODEL_OVERLOADED', true],
  [429, 'MODEL_RATE_LIMITED', true],
  [500, 'MODEL_FAILED', true],
  [501, 'MODEL_REQUEST_INVALID', false],
  [502, 'MODEL_FAILED', true],
  [503, 'MODEL_OVERLOADED', true],
  [504, 'MODEL_TIMEOUT', true],
  [529, 'MODEL_OVERLOADED', true],
])('the status %i is %s', (status, code, retryable) => {
  expect(error(status)).toMatchObject({ code, retryable });
});

test('says where, the status, and the words of the server', () => {
  expect(error(400).message).toBe('http://m/v1/chat: HTTP 400, no');
  expect(error(401, '{"error":"Unauthorized"}').message).toContain('HTTP 401, Unauthorized');
  expect(error(308, '', { location: 'https://m/v1' }).message).toContain(
    'it redirects to https://m/v1',
  );
});

test('honours what the headers say about another try', () => {
  expect(error(429, '{}', { 'retry-after': '2' })).toMatchObject({
    retryAfterMs: 2000,
    retryable: true,
  });
  expect(error(429, '{}', { 'x-should-retry': 'false' }).retryable).toBe(false);
  expect(error(400, '{}', { 'x-should-retry': 'true' }).retryable).toBe(true);
});

test('an overflow is never retried as it is, and carries its numbers', () => {
  const overflow = error(400, '{"error":{"message":"prompt is too long: 9 tokens > 4 maximum"}}', {
    'x-should-retry': 'true',
  });
  expect(overflow).toMatchObject({ code: 'MODEL_CONTEXT_OVERFLOW', retryable: false });
  expect(overflowOf(overflow)).toMatchObject({ inputTokens: 9, window: 4 });
});

test('a spent quota is not a matter of waiting; a filter is a refusal', () => {
  const quota = error(429, '{"error":{"message":"no","code":"insufficient_quota"}}');
  expect(quota).toMatchObject({ code: 'MODEL_RATE_LIMITED', retryable: false });
  expect(error(400, '{"error":{"message":"no","code":"content_filter"}}').code).toBe(
    'MODEL_REFUSED',
  );
  expect(error(400, '{"error":{"message":"no","type":"content_policy_violation"}}').code).toBe(
    'MODEL_REFUSED',
  );
});

test('shows no secret', () => {
  expect(error(401, '{"error":"Wrong key: sk-1"}').message).not.toContain('sk-1');
});

test('a hint mends better', () => {
  const hints = [{ words: /parser/, mend: 'Start it with a parser.' }];
  const hinted = httpError(
    { status: 400, body: 'it needs a parser', headers: { get: () => null } },
    { ...context, hints },
  );
  expect(hinted.mend).toBe('Start it with a parser.');
  expect(
    httpError({ status: 400, body: 'x', headers: { get: () => null } }, { ...context, hints }).mend,
  ).not.toBe('Start it with a parser.');
});

test.each([
  [{ message: 'x', status: 500 }, 'MODEL_FAILED'],
  [{ message: 'x', status: 429 }, 'MODEL_RATE_LIMITED'],
  [{ message: 'x', code: 'rate_limit_exceeded' }, 'MODEL_RATE_LIMITED'],
  [{ message: 'x', type: 'overloaded_error' }, 'MODEL_OVERLOADED'],
  [{ message: 'x', type: 'authentication_error' }, 'MODEL_AUTHENTICATION'],
  [{ message: 'x', type: 'permission_error' }, 'MODEL_AUTHENTICATION'],
  [{ message: 'x', type: 'NotFoundError' }, 'MODEL_NOT_FOUND'],
  [{ message: 'x', type: 'timeout_error' }, 'MODEL_TIMEOUT'],
  [{ message: 'x', type: 'invalid_request_error' }, 'MODEL_REQUEST_INVALID'],
  [{ message: 'the context size is exceeded' }, 'MODEL_CONTEXT_OVERFLOW'],
  [{ message: 'x' }, 'MODEL_FAILED'],
])('an error inside a stream, %j, is %s', (fault, code) => {
  expect(faultError(fault, context).code).toBe(code);
});

test('an error inside a stream says so where it has no status of its own', () => {
  expect(faultError({ message: 'x' }, context).message).toContain('the stream carried an error: x');
});
