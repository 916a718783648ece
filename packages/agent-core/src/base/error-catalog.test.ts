import { expect, test } from 'vitest';
import { AgentError } from './error.ts';
import * as catalog from './error-catalog.ts';
import { ERROR_CODES } from './error-codes.ts';

const problem = { at: 'here', seen: 'is wrong.', mend: 'Put it right.' };

test.each([
  ['hostListenFailed', catalog.hostListenFailed('127.0.0.1:80', new Error('it is taken'))],
  ['hostListenFailed, of something else', catalog.hostListenFailed('127.0.0.1:80', 'it is taken')],
  ['hostClosing', catalog.hostClosing()],
  ['httpBodyTooLarge', catalog.httpBodyTooLarge(10)],
  ['httpRateLimited', catalog.httpRateLimited(10, 1_000)],
  ['hostOverloaded', catalog.hostOverloaded('the event loop is late')],
  ['socketOriginRefused', catalog.socketOriginRefused('https://example.com')],
  ['httpOriginRefused', catalog.httpOriginRefused('origin', 'https://example.com')],
  ['httpRequestInvalid', catalog.httpRequestInvalid('It is no JSON.', 'Send JSON.')],
  ['httpRouteUnknown', catalog.httpRouteUnknown('GET', '/nowhere')],
  ['httpMethodNotAllowed', catalog.httpMethodNotAllowed('PUT', '/runs', ['GET'])],
  ['httpMediaTypeUnsupported', catalog.httpMediaTypeUnsupported('text/csv')],
  ['httpMediaTypeUnsupported, of no type', catalog.httpMediaTypeUnsupported(undefined)],
  ['ownerUnresolved', catalog.ownerUnresolved('no tenant')],
  ['internalError', catalog.internalError(new Error('inside'))],
  ['principalRequired', catalog.principalRequired('nobody')],
  ['configNotFound', catalog.configNotFound(['hexagent.config.ts'], 'Write one.')],
  ['configInvalid', catalog.configInvalid('a.ts', { seen: 'is empty.', mend: 'Fill it.' })],
  ['inputInvalid', catalog.inputInvalid('The input', [problem, problem])],
  ['sealerMissing', catalog.sealerMissing('r1.m1')],
])('%s has a code of the list, what was seen and the mend', (_name, error) => {
  expect(AgentError.is(error)).toBe(true);
  expect(ERROR_CODES).toContain(error.code);
  expect(error.message).toMatch(/\S/);
  expect(error.mend).toMatch(/\S/);
});

test('what is wrong with an input stands in words and one by one; other errors have no list', () => {
  expect(catalog.inputInvalid('The input', [problem]).problems).toEqual([problem]);
  expect(catalog.runNotFound('r1').problems).toEqual([]);
});

test('of a million mistakes in an input a hundred are told, and how many more there are', () => {
  const error = catalog.inputInvalid(
    'The input',
    Array.from({ length: 1_000 }, () => problem),
  );
  expect(error.problems).toHaveLength(100);
  expect(error.message).toContain('has 1000 problems');
  expect(error.message.split('\n')).toHaveLength(102);
  expect(error.message).toContain('and 900 more.');
});

test('an internal error tells nothing of its inside', () => {
  const error = catalog.internalError(new Error('the password is x'));
  expect(JSON.stringify(error.toRecord())).not.toContain('password');
});

test('says what was thrown, whatever it was, and leaves out who and why when nobody said', () => {
  expect(catalog.executeFailed('writer', 'no disk').message).toContain('no disk');
  expect(catalog.hookFailed('pause', new Error('broken')).message).toContain('broken');
  expect(catalog.pluginSetupFailed('x', 'no port')).toMatchObject({
    message: expect.stringContaining('no port'),
    mend: 'Look at the cause; nothing was started.',
  });
  const typed = catalog.runEnded('r1');
  expect(catalog.pluginSetupFailed('x', typed).mend).toBe(typed.mend);
  expect(catalog.agentUnknown('x', []).mend).toContain('none');
  expect(catalog.runAbandoned('r1', { by: undefined, comment: undefined }).message).toBe(
    'The run "r1" was abandoned when it was asked whether it should go on.',
  );
});
