import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeKey, encodeKey, KEY_END } from './key-order.ts';

const keys = fc.string({ unit: 'binary', maxLength: 12 });
const bytes = (text: string): Buffer => Buffer.from(encodeKey(text), 'utf8');

test('an ordinary key is its own form', () => {
  expect(encodeKey('세션/a-1')).toBe('세션/a-1'.replaceAll(/[\uD800-\uFFFF]/g, ''));
  expect(encodeKey('plain')).toBe('plain');
});

test('every key comes back as it was, also with half a surrogate pair', () => {
  fc.assert(fc.property(keys, (key) => decodeKey(encodeKey(key)) === key));
  expect(decodeKey(encodeKey('a\ud800b\uffff😀'))).toBe('a\ud800b\uffff😀');
});

test('the bytes of two forms sort as the keys do by their units', () => {
  fc.assert(
    fc.property(keys, keys, (left, right) => {
      const order = left === right ? 0 : left < right ? -1 : 1;
      return Math.sign(Buffer.compare(bytes(left), bytes(right))) === order;
    }),
  );
});

test('the end of a prefix sorts above every key that starts with it', () => {
  fc.assert(
    fc.property(keys, keys, (prefix, rest) => {
      const end = Buffer.from(encodeKey(prefix) + KEY_END, 'utf8');
      return Buffer.compare(bytes(prefix + rest), end) < 0;
    }),
  );
});
