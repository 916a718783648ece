import { expect, test } from 'vitest';
import { isExposed } from './exposure.ts';
import { type FieldMark, type MASKINGS, SENSITIVITIES } from './mark.ts';
import { maskOf } from './mask.ts';
import { secretField, sensitiveField } from './sensitive.ts';

const shown = (value: Parameters<typeof maskOf>[0], masking: (typeof MASKINGS)[number]): string =>
  maskOf(value, sensitiveField({ category: 'phone', masking }), 'salt');

test('masks strings by the policy of their field, short ones among them', () => {
  expect(['', 'abcd', 'abcde'].map((text) => shown(text, 'redact'))).toEqual([
    '[REDACTED]',
    '[REDACTED]',
    '[REDACTED]',
  ]);
  expect(['', 'abcd', 'abcde'].map((text) => shown(text, 'last-four'))).toEqual([
    '[REDACTED]',
    '[REDACTED]',
    '***bcde',
  ]);
  expect(['', 'a', 'ab', 'abc'].map((text) => shown(text, 'first-last'))).toEqual([
    '[REDACTED]',
    '[REDACTED]',
    'a***b',
    'a***c',
  ]);
  expect(shown('👍xyz👎', 'first-last')).toBe('👍***👎');
});

test('masks numbers and booleans as their text, and shows no character of a container', () => {
  expect(shown(1234567, 'last-four')).toBe('***4567');
  expect(shown(true, 'last-four')).toBe('[REDACTED]');
  for (const masking of ['last-four', 'first-last', 'redact'] as const) {
    expect(shown({ number: '4111111111111111' }, masking)).toBe('[REDACTED]');
    expect(shown(['x'], masking)).toBe('[REDACTED]');
  }
});

test('hashes with a salt: the same value looks the same, and a dictionary does not open it', () => {
  const mark = sensitiveField({ category: 'email', masking: 'hash' });
  expect(maskOf('a@b.c', mark, 'one')).toMatch(/^\[HASHED:email:[0-9a-f]{12}\]$/);
  expect(maskOf('a@b.c', mark, 'one')).toBe(maskOf('a@b.c', mark, 'one'));
  expect(maskOf('a@b.c', mark, 'one')).not.toBe(maskOf('a@b.c', mark, 'two'));
  expect(maskOf('a@b.c', mark)).toBe(maskOf('a@b.c', mark));
  expect(maskOf({ a: 1, b: 2 }, mark, 'one')).toBe(maskOf({ b: 2, a: 1 }, mark, 'one'));
});

test('gives a reference where only a reference may stand', () => {
  const labelled = sensitiveField({
    category: 'email',
    redaction: 'reference-only',
    label: 'customer',
  });
  expect(maskOf('a@b.c', labelled, 's')).toMatch(/^\[REFERENCE:customer:[0-9a-f]{12}\]$/);
  const plain = sensitiveField({
    category: 'email',
    masking: 'last-four',
    redaction: 'reference-only',
  });
  expect(maskOf('a@b.c', plain, 's')).toMatch(/^\[REFERENCE:email:[0-9a-f]{12}\]$/);
});

test('derives nothing from a secret', () => {
  expect(maskOf('hunter2', secretField())).toBe('[SECRET]');
  expect(maskOf('hunter2', secretField({ label: 'database' }))).toBe('[SECRET:database]');
  expect(maskOf('hunter2', secretField({ label: 'database', redaction: 'redact' }))).toBe(
    '[SECRET]',
  );
});

test('shows a field by its sensitivity and the policy, and a secret never', () => {
  const rows = SENSITIVITIES.map((category) => sensitiveField({ category }) as FieldMark).concat(
    sensitiveField({ category: 'email' }),
    secretField(),
  );
  const columns = [
    { includePiiValues: false, includeSensitiveValues: false },
    { includePiiValues: true, includeSensitiveValues: false },
    { includePiiValues: false, includeSensitiveValues: true },
  ];
  const table = rows.map((field) => columns.map((policy) => isExposed(field, policy)));
  expect(table).toEqual([
    [true, true, true], // public
    [true, true, true], // internal
    [false, false, true], // confidential
    [false, true, false], // pii
    [false, false, true], // secret as a sensitivity
    [false, true, false], // email
    [false, false, false], // a secret field
  ]);
});
