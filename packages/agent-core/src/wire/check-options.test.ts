import { expect, test } from 'vitest';
import {
  extraProblems,
  headerProblems,
  isHeaderText,
  nameProblems,
  secretsOf,
  timeoutProblems,
} from './check-options.ts';

test('a name with a slip is told, with the names that there are', () => {
  expect(nameProblems({ model: 'm', apikey: 'x' }, { model: true, apiKey: true })).toEqual([
    {
      at: 'apikey',
      seen: 'it is not an option.',
      mend: 'Remove it; the options are model, apiKey.',
    },
  ]);
  expect(nameProblems({ toString: 1 }, { model: true })).toHaveLength(1);
});

test('a header has a name of tokens and a value without control characters', () => {
  const headers = { 'x-ok': 'tab\tä', 'bad name': 'x', '': 'x', 'x-break': 'a\nb', 'x-wide': '€' };
  expect(headerProblems(headers).map(({ at }) => at)).toEqual([
    'headers["bad name"]',
    'headers[""]',
    'headers["x-break"]',
    'headers["x-wide"]',
  ]);
  expect(isHeaderText('sk-1')).toBe(true);
  expect(isHeaderText('sk-1\n')).toBe(false);
});

test('limits are milliseconds above 0 or Infinity, under the names that the adapter knows', () => {
  const known = { firstByteMs: 1, idleMs: 1 };
  expect(timeoutProblems({ firstByteMs: 0.5, idleMs: Number.POSITIVE_INFINITY }, known)).toEqual(
    [],
  );
  const given = { firstByteMs: 0, idleMs: '5', connectMs: 5, toString: 5 };
  expect(timeoutProblems(given, known)).toEqual([
    { at: 'timeouts.firstByteMs', seen: '0.', mend: 'Use milliseconds above 0, or Infinity.' },
    { at: 'timeouts.idleMs', seen: '5.', mend: 'Use milliseconds above 0, or Infinity.' },
    {
      at: 'timeouts.connectMs',
      seen: 'there is no such limit.',
      mend: 'Use firstByteMs, idleMs; connecting counts to the first byte.',
    },
    {
      at: 'timeouts.toString',
      seen: 'there is no such limit.',
      mend: 'Use firstByteMs, idleMs.',
    },
  ]);
});

test('extra members do not write over what the adapter writes', () => {
  expect(extraProblems({ model: 'm', top_k: 1 }, ['model', 'messages'])).toEqual([
    {
      at: 'extra.model',
      seen: 'the adapter writes this field itself.',
      mend: 'Leave it out.',
    },
  ]);
});

test('secrets are those given and those of headers, with and without their scheme, each once', () => {
  const headers = {
    authorization: 'Bearer sk-1',
    'x-api-key': 'sk-2',
    'x-token': null,
    'x-trace': 'public',
  };
  expect(secretsOf(['sk-2', ''], headers)).toEqual(['sk-2', 'Bearer sk-1', 'sk-1']);
});
