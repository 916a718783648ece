import { expect, test } from 'vitest';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from './exposure.ts';
import { guardValue } from './guard-value.ts';
import type { FieldMark, Mark } from './mark.ts';
import { secretField, sensitiveField } from './sensitive.ts';

const masked = sensitiveField({ category: 'email' });
const dropped = sensitiveField({ category: 'email', redaction: 'drop' });
const at = (path: string, field: FieldMark = masked): Mark => ({
  path: path === '' ? [] : path.split('.'),
  field,
});
const guarded = (value: JsonValue, ...marks: readonly Mark[]): JsonValue =>
  guardValue(deepFreeze(value), marks, CONTEXT_EXPOSURE);

test('masks marked fields, and touches neither the rest nor the original', () => {
  const value = { user: { email: 'a@b.c', name: 'Ann' }, other: { x: 1 } };
  const result = guarded(value, at('user.email')) as typeof value;
  expect(result).toEqual({ user: { email: '[REDACTED]', name: 'Ann' }, other: { x: 1 } });
  expect(result.other).toBe(value.other);
  expect(value.user.email).toBe('a@b.c');
});

test('reaches list items, members of maps and places of tuples', () => {
  expect(guarded({ list: [{ e: 'a' }, { e: 'b' }, 7] }, at('list.*.e'))).toEqual({
    list: [{ e: '[REDACTED]' }, { e: '[REDACTED]' }, 7],
  });
  expect(guarded({ map: { x: 'a', y: 'b' } }, at('map.*'))).toEqual({
    map: { x: '[REDACTED]', y: '[REDACTED]' },
  });
  expect(guarded(['a', 'b'], at('1'))).toEqual(['a', '[REDACTED]']);
});

test('drops the field itself, not what it lies in', () => {
  expect(guarded({ user: { email: 'a', id: 1 } }, at('user.email', dropped))).toEqual({
    user: { id: 1 },
  });
  expect(guarded({ list: ['a', 'b'] }, at('list.*', dropped))).toEqual({ list: [] });
  expect(guarded({ list: [{ e: 'a', i: 1 }] }, at('list.*.e', dropped))).toEqual({
    list: [{ i: 1 }],
  });
  expect(guarded(['a', 'b', 'c'], at('0', dropped), at('1'))).toEqual([null, '[REDACTED]', 'c']);
  expect(guarded('a', at('', dropped))).toBeNull();
  expect(guarded('a', at('', dropped), at(''))).toBeNull();
});

test('masks the root, and a container as a whole', () => {
  expect(guarded('a@b.c', at(''))).toBe('[REDACTED]');
  expect(guarded({ card: { number: 1 } }, at('card'))).toEqual({ card: '[REDACTED]' });
  expect(guarded({ key: 'k' }, at('key', secretField({ label: 'api' })))).toEqual({
    key: '[SECRET:api]',
  });
});

test('has nothing to hide where there is nothing', () => {
  const value = { email: null, text: 'x', list: [1] };
  expect(
    guarded(value, at('email'), at('missing.a'), at('text.a'), at('list.5'), at('toString')),
  ).toBe(value);
  expect(guarded(7, at('a'))).toBe(7);
});

test('shows what the policy shows', () => {
  const value = { email: 'a@b.c', key: 'k' };
  expect(guardValue(value, [at('email')], { ...CONTEXT_EXPOSURE, includePiiValues: true })).toBe(
    value,
  );
  expect(
    guardValue(value, [at('key', secretField())], {
      includePiiValues: true,
      includeSensitiveValues: true,
    }),
  ).toEqual({ email: 'a@b.c', key: '[SECRET]' });
});

test('hashes with the salt of the policy', () => {
  const mark = at('email', sensitiveField({ category: 'email', masking: 'hash' }));
  const withSalt = (salt: string): JsonValue =>
    guardValue({ email: 'a@b.c' }, [mark], { ...CONTEXT_EXPOSURE, salt });
  expect(withSalt('a')).toEqual(withSalt('a'));
  expect(withSalt('a')).not.toEqual(withSalt('b'));
});
