import { AgentError } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { postgresFailure } from './database.ts';

const PLACE = { name: 'PostgreSQL at db:5432/app', check: 'Check that it runs.' };

function coded(code: string, message = 'refused'): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  coded('ECONNREFUSED'),
  coded('ENOTFOUND'),
  coded('57P01', 'terminating connection due to administrator command'),
  coded('57P03', 'the database system is starting up'),
  coded('53300', 'sorry, too many clients already'),
  coded('08006'),
  new Error('Connection terminated unexpectedly'),
  new Error('Query read timeout'),
  new AggregateError([coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432')]),
])('%o is a server that does not answer now', (error) => {
  expect(postgresFailure(error, PLACE)).toMatchObject({
    code: 'STORE_UNREACHABLE',
    retryable: true,
    message: expect.stringContaining('db:5432/app'),
    mend: PLACE.check,
  });
});

test.each([
  ['42P01', 'STORE_NOT_MIGRATED', /migrate/],
  ['3F000', 'STORE_NOT_MIGRATED', /migrate/],
  ['28P01', 'STORE_FAILED', /password/],
  ['3D000', 'STORE_FAILED', /database/],
  ['53100', 'STORE_FAILED', /make room/],
  ['42501', 'STORE_FAILED', /Grant/],
  ['22021', 'STORE_FAILED', /log of the database/],
  ['', 'STORE_FAILED', /Check that it runs/],
])('SQLSTATE %s is %s', (code, expected, mend) => {
  const error = postgresFailure(coded(code), PLACE);
  expect(error).toMatchObject({ code: expected, retryable: false });
  expect(error.mend).toMatch(mend);
});

test('an error of ours stays what it is, and what is no Error is shown', () => {
  const ours = new AgentError('RUN_SUPERSEDED', { message: 'm', mend: 'n' });
  expect(postgresFailure(ours, PLACE)).toBe(ours);
  expect(postgresFailure('odd', PLACE).message).toContain('odd');
});
