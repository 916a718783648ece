import { sha256 } from '../base/sha256.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * So many letters and digits (at most 32) that follow from the text alone: for names and ids that a
 * wire format has no room for.
 */
export function shortHash(text: string, length: number): string {
  let hash = '';
  for (const byte of sha256(new TextEncoder().encode(text)).subarray(0, length)) {
    hash += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return hash;
}
