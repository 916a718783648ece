import { expect, test } from 'vitest';
import { fromBase64, toBase64 } from './base64.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each([
  ['', ''],
  ['f', 'Zg=='],
  ['fo', 'Zm8='],
  ['foo', 'Zm9v'],
  ['foob', 'Zm9vYg=='],
  ['fooba', 'Zm9vYmE='],
  ['foobar', 'Zm9vYmFy'],
])('"%s" is "%s" and back (RFC 4648, section 10)', (plain, encoded) => {
  expect(toBase64(bytesOf(plain))).toBe(encoded);
  expect([...fromBase64(encoded)]).toEqual([...bytesOf(plain)]);
});

test('every byte comes back', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  expect([...fromBase64(toBase64(bytes))]).toEqual([...bytes]);
});
