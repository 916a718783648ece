const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Bytes as base64 (RFC 4648, with padding). */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const three =
      ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += LETTERS.charAt(three >> 18) + LETTERS.charAt((three >> 12) & 63);
    text += left > 1 ? LETTERS.charAt((three >> 6) & 63) : '=';
    text += left > 2 ? LETTERS.charAt(three & 63) : '=';
  }
  return text;
}

/** The bytes of a base64 text; what is no letter of it ends the bytes. */
export function fromBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let kept = 0;
  let bits = 0;
  let length = 0;
  for (const letter of text) {
    const value = LETTERS.indexOf(letter);
    if (value === -1) break;
    bits = ((bits << 6) | value) & 0xffffff;
    kept += 6;
    if (kept < 8) continue;
    kept -= 8;
    bytes[length] = (bits >> kept) & 0xff;
    length += 1;
  }
  return bytes.subarray(0, length);
}
