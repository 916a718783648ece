import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { restoreMasked } from './restore-masked.ts';

const exact = {
  to: 'ada',
  key: 'sk-1',
  pin: 1234,
  auth: { user: 'u', token: 't-1' },
  cards: [{ no: '41' }, { no: '42' }],
  note: 'hidden whole',
};
const shown = {
  to: 'ada',
  key: '[SECRET]',
  pin: '[REDACTED]',
  auth: { user: 'u', token: '[SECRET]' },
  cards: [{ no: '[REDACTED]' }, { no: '[REDACTED]' }],
};
const edit = (edited: JsonObject, given: JsonValue | undefined = shown) =>
  restoreMasked(edited, { shown: given, exact });

test('what is left as it was shown is the value itself, and what was not shown is still there', () => {
  expect(edit({ ...shown, to: 'bob' })).toEqual({ ok: true, input: { ...exact, to: 'bob' } });
});

test('a hidden value may be written anew, or be taken out where it was seen to be', () => {
  const { key: _key, ...rest } = shown;
  const auth = { user: 'u', token: 't-2' };
  const { key: _exact, ...wanted } = exact;
  expect(edit({ ...rest, auth, note: 'mine', more: 1 })).toEqual({
    ok: true,
    input: { ...wanted, auth, note: 'mine', more: 1 },
  });
});

test('a mask that stands somewhere else stands for nothing: it is a problem, once each', () => {
  const problems = (edited: JsonObject) => {
    const result = edit(edited);
    return result.ok ? [] : result.problems;
  };
  expect(problems({ ...shown, cards: [{ no: '[REDACTED]' }] })).toEqual([
    expect.stringContaining('"[REDACTED]" stands for a value that was not shown'),
  ]);
  expect(problems({ ...shown, to: '[SECRET]', other: ['[SECRET]', null, 3] })).toHaveLength(1);
  expect(problems({ ...shown, cards: 'none', auth: [1] })).toEqual([]);
});

test('where nothing is hidden, or nothing was shown, an edit is as it is', () => {
  const edited = { to: '[SECRET]' };
  expect(edit(edited, exact)).toEqual({ ok: true, input: edited });
  expect(restoreMasked(edited, { shown: undefined, exact })).toEqual({ ok: true, input: edited });
});

test('arguments that are hidden as a whole are the ones that they were', () => {
  const whole = restoreMasked(
    { list: '[SECRET]' },
    { shown: { list: '[SECRET]' }, exact: { list: [1, 2] } },
  );
  expect(whole).toEqual({ ok: true, input: { list: [1, 2] } });
});

test('a place that was left empty in a list of fixed places is what it was', () => {
  const edited = { pair: ['a', null] };
  const given = { shown: { pair: ['a', null] }, exact: { pair: ['a', 's-1'] } };
  expect(restoreMasked(edited, given)).toEqual({ ok: true, input: { pair: ['a', 's-1'] } });
});
