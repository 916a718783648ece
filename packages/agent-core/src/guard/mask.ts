import { randomIds } from '../base/ids.ts';
import { canonicalJson, type JsonValue } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { FieldMark, SensitiveMark } from './mark.ts';

const REDACTED = '[REDACTED]';
const DIGEST_LENGTH = 12;

/**
 * What stands in place of a marked value that may not be shown.
 *
 * - a secret: `[SECRET]`, or `[SECRET:label]` when it is labelled and `reference-only`; nothing is derived from its value;
 * - `reference-only`: `[REFERENCE:label or category:digest]`; two equal values have one reference, and no value can be read off it;
 * - else by `masking`: `[REDACTED]`; `***` and the last four characters (of more than four); the first character, `***` and the last
 *   (of more than one); `[HASHED:category:digest]`.
 *
 * Digests are salted: without the salt nobody can try a list of emails against them. An object or a list shows none of
 * its characters, and `redaction: 'drop'` is the caller's (there is nothing to show).
 */
export function maskOf(value: JsonValue, field: FieldMark, salt: string = processSalt()): string {
  const isReference = field.redaction === 'reference-only';
  if (field.kind === 'secret') {
    return isReference && field.label !== undefined ? `[SECRET:${field.label}]` : '[SECRET]';
  }
  if (isReference)
    return `[REFERENCE:${field.label ?? field.category}:${digestOf(value, field, salt)}]`;
  return masked(value, field, salt);
}

function masked(value: JsonValue, field: SensitiveMark, salt: string): string {
  if (field.masking === 'hash') return `[HASHED:${field.category}:${digestOf(value, field, salt)}]`;
  if (field.masking === 'redact' || typeof value === 'object') return REDACTED;
  const characters = [...String(value)];
  if (field.masking === 'last-four') {
    return characters.length > 4 ? `***${characters.slice(-4).join('')}` : REDACTED;
  }
  return characters.length > 1 ? `${characters[0]}***${characters.at(-1)}` : REDACTED;
}

function digestOf(value: JsonValue, field: SensitiveMark, salt: string): string {
  return sha256Hex(canonicalJson([salt, field.category, value])).slice(0, DIGEST_LENGTH);
}

let salt: string | undefined;

/** Made when it is first needed; the same value has the same digest as long as the process lives. */
function processSalt(): string {
  salt ??= sha256Hex(randomIds.bytes(32).join('.'));
  return salt;
}
