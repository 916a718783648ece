import type { Problem } from '../base/error-catalog.ts';

/** No header may have these: bytes below a space, DEL, and what is no byte at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_HEADER = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** True for a text that can be the value of a header, such as a key. */
export function isHeaderText(text: string): boolean {
  return !NOT_IN_HEADER.test(text);
}

/** Names that are no option: one with a slip, such as "apikey", would be left out without a word. */
export function nameProblems(
  options: object,
  known: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  const mend = `Remove it; the options are ${Object.keys(known).join(', ')}.`;
  return Object.keys(options)
    .filter((name) => !Object.hasOwn(known, name))
    .map((at) => ({ at, seen: 'it is not an option.', mend }));
}

/** Headers that no request can carry. */
export function headerProblems(headers: Readonly<Record<string, string>>): readonly Problem[] {
  return Object.entries(headers)
    .filter(([name, value]) => !HEADER_NAME.test(name) || !isHeaderText(value))
    .map(([name]) => ({
      at: `headers[${JSON.stringify(name)}]`,
      seen: 'its name or value has a character that no header may have.',
      mend: 'Correct or remove it.',
    }));
}

/** Limits that do not exist, and values that are no time; `known` has the limits of the adapter. */
export function timeoutProblems(
  timeouts: object,
  known: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  const limits = Object.keys(known).join(', ');
  return Object.entries(timeouts).flatMap(([name, value]): readonly Problem[] => {
    const at = `timeouts.${name}`;
    if (!Object.hasOwn(known, name)) {
      const note = name === 'connectMs' ? '; connecting counts to the first byte' : '';
      return [{ at, seen: 'there is no such limit.', mend: `Use ${limits}${note}.` }];
    }
    if (typeof value === 'number' && value > 0) return [];
    return [{ at, seen: `${String(value)}.`, mend: 'Use milliseconds above 0, or Infinity.' }];
  });
}

/** Members of `extra` that would write over fields of the body which the adapter writes itself. */
export function extraProblems(extra: object, ownFields: readonly string[]): readonly Problem[] {
  return ownFields
    .filter((field) => Object.hasOwn(extra, field))
    .map((field) => ({
      at: `extra.${field}`,
      seen: 'the adapter writes this field itself.',
      mend: 'Leave it out.',
    }));
}

/** What must not stand in an error: the given secrets, and the values of headers that hold some, with and without their scheme. */
export function secretsOf(
  secrets: readonly string[],
  headers: Readonly<Record<string, string | null>>,
): readonly string[] {
  const inHeaders = Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => (value === null ? [] : [value, value.replace(/^\w+ /, '')]));
  return [...new Set([...secrets, ...inHeaders])].filter((secret) => secret !== '');
}
