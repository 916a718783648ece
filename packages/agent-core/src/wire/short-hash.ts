const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * So many letters and digits (at most 10) that follow from the text alone: for names and ids that a
 * wire format has no room for. Not for secrets: 53 bits, no cryptography.
 */
export function shortHash(text: string, length: number): string {
  let left = 0xdeadbeef;
  let right = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    left = Math.imul(left ^ unit, 2654435761);
    right = Math.imul(right ^ unit, 1597334677);
  }
  left = Math.imul(left ^ (left >>> 16), 2246822507) ^ Math.imul(right ^ (right >>> 13), 3266489909);
  right = Math.imul(right ^ (right >>> 16), 2246822507) ^ Math.imul(left ^ (left >>> 13), 3266489909);
  let rest = 4294967296 * (2097151 & right) + (left >>> 0);
  let hash = '';
  for (let index = 0; index < length; index += 1) {
    hash += ALPHABET.charAt(rest % 62);
    rest = Math.floor(rest / 62);
  }
  return hash;
}
