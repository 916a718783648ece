/**
 * Control characters but line feed and tab, and the marks that reorder a line. A model or a tool
 * could use them to draw over what the reader is asked to approve.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text as a terminal may show it: what would steer the terminal is written out as `\u001b`. */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** On one line, and cut with `…` when it is longer than `width`. */
export function oneLine(text: string, width: number): string {
  const flat = printable(text).replace(/\s+/g, ' ').trim();
  return flat.length > width ? `${flat.slice(0, Math.max(0, width - 1))}…` : flat;
}
