import { expect, test } from 'vitest';
import { customHeaderProblems, onlyHeaders } from './client-headers.ts';

test('the headers that are named stay, and that of the content, whatever the case', () => {
  const sent = {
    Accept: 'application/json',
    Authorization: 'Bearer sk-1',
    'Content-Type': 'application/json',
    'X-Stainless-Lang': 'js',
    'X-Title': 'leak',
  };
  const list = new Headers(sent);
  expect(onlyHeaders(list, ['accept', 'AUTHORIZATION', 'x-absent'])).toBe(list);
  expect(Object.fromEntries(list)).toEqual({
    accept: 'application/json',
    authorization: 'Bearer sk-1',
    'content-type': 'application/json',
  });
  const written = new Map(Object.entries(sent));
  expect([...onlyHeaders(written, ['authorization']).keys()]).toEqual([
    'Authorization',
    'Content-Type',
  ]);
});

test.each([
  ['nothing', undefined],
  ['an empty text', ' \n'],
  ['headers', '\nX-One: 1\n  x-two : a:b \r\n'],
  ['a line without a colon, which a client passes over', 'sk-1\nx-one: 1'],
  ['a name twice', 'x-one: 1\nx-one: 2'],
])('a variable with %s is no problem', (_, text) => {
  expect(customHeaderProblems('CUSTOM_HEADERS', text)).toEqual([]);
});

test.each([
  ['a name that is none', 'no header: sk-1'],
  ['no name', 'x-one: 1\n: sk-1'],
  ['a value that no header carries', 'x-one: €sk-1'],
])('a variable with %s is one problem, which shows nothing of it', (_, text) => {
  const problems = customHeaderProblems('CUSTOM_HEADERS', text);
  expect(problems).toMatchObject([{ at: 'CUSTOM_HEADERS', seen: 'it is no list of headers.' }]);
  expect(JSON.stringify(problems)).not.toContain('sk-1');
});
