import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { coerced } from './coercion.ts';

const schema = Type.Object({
  count: Type.Optional(Type.Integer()),
  share: Type.Optional(Type.Number()),
  deep: Type.Optional(Type.Boolean()),
  ids: Type.Optional(Type.Array(Type.Integer())),
  any: Type.Optional(Type.Array(Type.Unsafe<unknown>({}))),
  name: Type.Optional(Type.String()),
});

test('reads numbers, booleans and lists as their schema says, and leaves texts alone', () => {
  expect(
    coerced(schema, {
      count: '-7',
      share: '1.5',
      deep: 'true',
      ids: ['1', '2'],
      name: '7',
      x: '1',
    }),
  ).toEqual({ count: -7, share: 1.5, deep: true, ids: [1, 2], name: '7', x: '1' });
  expect(coerced(schema, { ids: '3', deep: 'false' })).toEqual({ ids: [3], deep: false });
});

test('leaves what does not read as its type, so that the check can say so', () => {
  const odd = { count: '0x10', share: 'Infinity', deep: '1', ids: ['1e3', ' 2'] };
  expect(coerced(schema, odd)).toEqual(odd);
  expect(coerced(schema, { count: '', share: '1.', deep: true })).toEqual({
    count: '',
    share: '1.',
    deep: true,
  });
});

test('a value or a schema without fields stays as it is', () => {
  for (const given of [undefined, null, 'text', ['1']]) expect(coerced(schema, given)).toBe(given);
  expect(coerced({ type: 'object' }, { a: '1' })).toEqual({ a: '1' });
  expect(coerced({ properties: { a: true } }, { a: '1' })).toEqual({ a: '1' });
});
