import { webcrypto } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256, sha256Hex } from './sha256.ts';

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

// FIPS 180-4 examples and the NIST long-message vector.
const VECTORS: readonly (readonly [string, string])[] = [
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  [
    'abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu',
    'cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1',
  ],
  ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
];

test('gives the digests of the NIST vectors', () => {
  for (const [text, digest] of VECTORS) {
    expect(sha256Hex(text)).toBe(digest);
    expect(hexOf(sha256(new TextEncoder().encode(text)))).toBe(digest);
  }
});

test('agrees with crypto.subtle on random bytes of every length around a block', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      const expected = new Uint8Array(await webcrypto.subtle.digest('SHA-256', bytes));
      expect(hexOf(sha256(bytes))).toBe(hexOf(expected));
    }),
    { numRuns: 300 },
  );
  for (let length = 0; length <= 130; length += 1) {
    const bytes = new Uint8Array(length).fill(length);
    const expected = new Uint8Array(await webcrypto.subtle.digest('SHA-256', bytes));
    expect(hexOf(sha256(bytes))).toBe(hexOf(expected));
  }
});

test('agrees with crypto.subtle on any text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
      const bytes = new TextEncoder().encode(text);
      const expected = new Uint8Array(await webcrypto.subtle.digest('SHA-256', bytes));
      expect(sha256Hex(text)).toBe(hexOf(expected));
    }),
    { numRuns: 200 },
  );
});
