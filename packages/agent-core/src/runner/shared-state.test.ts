import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../base/json.ts';
import { patched } from './shared-state.ts';

const state = { a: 1, list: [1, 2, 3], deep: { 'x/y': { '~': true } } };

describe('a patch', () => {
  test.each([
    ['adds a member', [{ op: 'add', path: '/b', value: null }], { ...state, b: null }],
    ['replaces one', [{ op: 'replace', path: '/a', value: [] }], { ...state, a: [] }],
    ['removes one', [{ op: 'remove', path: '/a' }], { list: state.list, deep: state.deep }],
    ['adds over one', [{ op: 'add', path: '/a', value: 2 }], { ...state, a: 2 }],
    [
      'inserts into a list',
      [{ op: 'add', path: '/list/1', value: 9 }],
      { ...state, list: [1, 9, 2, 3] },
    ],
    ['appends by -', [{ op: 'add', path: '/list/-', value: 9 }], { ...state, list: [1, 2, 3, 9] }],
    [
      'appends by index',
      [{ op: 'add', path: '/list/3', value: 9 }],
      { ...state, list: [1, 2, 3, 9] },
    ],
    [
      'replaces in a list',
      [{ op: 'replace', path: '/list/0', value: 9 }],
      { ...state, list: [9, 2, 3] },
    ],
    ['removes from a list', [{ op: 'remove', path: '/list/1' }], { ...state, list: [1, 3] }],
    [
      'reads escaped names',
      [{ op: 'replace', path: '/deep/x~1y/~0', value: false }],
      { ...state, deep: { 'x/y': { '~': false } } },
    ],
    ['replaces the whole', [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    [
      'goes on from what it did before',
      [
        { op: 'add', path: '/list/-', value: { n: 1 } },
        { op: 'add', path: '/list/3/n', value: 2 },
      ],
      { ...state, list: [1, 2, 3, { n: 2 }] },
    ],
  ] as const)('%s', (_, operations, expected) => {
    const before = structuredClone(state);
    expect(patched(state, operations)).toEqual(expected);
    expect(state).toEqual(before);
  });

  test.each([
    ['a path without a slash', { op: 'add', path: 'a', value: 1 }, 'does not start with "/"'],
    ['no value', { op: 'add', path: '/a' }, 'has no value'],
    ['a member that is not there', { op: 'replace', path: '/none', value: 1 }, 'there is nothing'],
    ['a removal of one', { op: 'remove', path: '/none' }, 'there is nothing'],
    ['a parent that is not there', { op: 'add', path: '/none/x', value: 1 }, 'there is nothing'],
    ['a parent that is no container', { op: 'add', path: '/a/x', value: 1 }, 'there is nothing'],
    ['an index beyond the list', { op: 'add', path: '/list/4', value: 1 }, 'there is nothing'],
    ['an index that is none', { op: 'replace', path: '/list/x', value: 1 }, 'there is nothing'],
    ['an index below the list', { op: 'remove', path: '/list/-1' }, 'there is nothing'],
    [
      '- for something that must be there',
      { op: 'replace', path: '/list/-', value: 1 },
      'there is nothing',
    ],
    [
      'a whole that is no object',
      { op: 'replace', path: '', value: 1 },
      'replaced by something else',
    ],
    ['a whole that is removed', { op: 'remove', path: '' }, 'replaced by something else'],
  ] as const)('refuses %s', (_, operation, problem) => {
    expect(() => patched(state, [operation])).toThrow(problem);
  });

  test('is all or nothing', () => {
    expect(() =>
      patched(state, [
        { op: 'replace', path: '/a', value: 2 },
        { op: 'remove', path: '/none' },
      ]),
    ).toThrow('patch[1]');
    expect(state.a).toBe(1);
  });
});

test('what is added under any name is there, and gone when it is removed', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (name, value) => {
      const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const given = value as JsonValue;
      const added = patched({}, [{ op: 'add', path, value: given }]);
      expect(Object.entries(added)).toEqual([[name, given]]);
      expect(patched(added, [{ op: 'remove', path }])).toEqual({});
    }),
  );
});
