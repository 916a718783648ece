import { expect, test } from 'vitest';
import {
  hostClosing,
  inputInvalid,
  principalRequired,
  runNotFound,
} from '../base/error-catalog.ts';
import { errorAnswerOf, problemBodyOf } from './error-answer.ts';
import { httpStatusOf } from './http-status.ts';

test('tells an AgentError with code, message and mend, and without its stack', () => {
  const { status, headers, body } = errorAnswerOf(runNotFound('r1'));
  expect(status).toBe(404);
  expect(headers).toEqual({});
  expect(Object.keys(body.error)).toEqual(['code', 'message', 'mend']);
  expect(body.error.code).toBe('RUN_NOT_FOUND');
});

test('tells nothing of a bug', () => {
  const { status, body } = errorAnswerOf(new TypeError('secret at /home/me'));
  expect(status).toBe(500);
  expect(body.error.code).toBe('INTERNAL_ERROR');
  expect(JSON.stringify(body)).not.toContain('secret');
});

test('says how to authenticate, and when to come again, in whole seconds', () => {
  expect(errorAnswerOf(principalRequired('no token')).headers).toEqual({
    'www-authenticate': 'Bearer',
  });
  expect(errorAnswerOf(hostClosing())).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
  });
});

test('a code without a status of its own is the server’s fault', () => {
  expect(httpStatusOf('RECORD_CORRUPT')).toBe(500);
  expect(errorAnswerOf(inputInvalid('x', [])).status).toBe(422);
});

test('a problem says its code three ways, and names a request that has an id', () => {
  expect(problemBodyOf(runNotFound('r1').toRecord(), { status: 404, requestId: 'a b' })).toEqual({
    type: 'urn:hexagent:error:RUN_NOT_FOUND',
    title: 'Run not found',
    status: 404,
    detail: expect.stringContaining('r1'),
    instance: 'urn:hexagent:request:a%20b',
    code: 'RUN_NOT_FOUND',
    mend: expect.any(String),
  });
});

test('a problem has its list where there is one, and no request where nobody counts them', () => {
  const told = inputInvalid('x', [{ at: 'a', seen: 'is missing.', mend: 'Send it.' }]);
  const body = problemBodyOf(told, { status: 422 });
  expect(body.problems).toEqual(told.problems);
  expect(body).not.toHaveProperty('instance');
  const own = { code: 'HTTP_ROUTE_UNKNOWN', message: 'm', mend: 'n', problems: [] };
  expect(problemBodyOf(own, { status: 404 })).toMatchObject({ title: 'Route unknown' });
  expect(problemBodyOf(own, { status: 404 })).not.toHaveProperty('problems');
});
