/**
 * A text form of a key whose bytes sort as the key's UTF-16 units do, which is the order that
 * `ValueStore.list` promises; UTF-8 alone would sort by code points. Units below the surrogates stay
 * as they are, so an ordinary key is its own form; the others move up, one character a unit.
 */
export function encodeKey(key: string): string {
  if (!/[\uD800-\uFFFF]/.test(key)) return key;
  let encoded = '';
  for (let index = 0; index < key.length; index += 1) {
    const unit = key.charCodeAt(index);
    encoded += unit < FIRST ? key.charAt(index) : String.fromCodePoint(MOVED + unit - FIRST);
  }
  return encoded;
}

export function decodeKey(encoded: string): string {
  let key = '';
  for (const character of encoded) {
    const point = character.codePointAt(0) ?? 0;
    key += point < MOVED ? character : String.fromCharCode(point - MOVED + FIRST);
  }
  return key;
}

/** Sorts above every encoded key that starts with what it is appended to. */
export const KEY_END = '\u{10FFFF}';

const FIRST = 0xd800;
const MOVED = 0x1_0000;
