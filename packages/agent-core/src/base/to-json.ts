import { type JsonValue, MAX_NESTING, putMember } from './json.ts';

/** A JSON copy of a value, or the first place that JSON cannot hold. */
export type ToJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

/**
 * Copies any value into JSON, and never loses something silently.
 *
 * - primitives, lists and plain objects as they are; `undefined` is null, and a member that is `undefined` is left out;
 * - `toJSON` is asked first (Date, URL, decimals); a Map with string keys becomes an object, a Set a list;
 * - an instance of a class is its own enumerable members, if it has any;
 * - functions, symbols, big integers, NaN, infinities, bytes, cycles and what nests deeper than 200 levels are refused.
 *
 * The copy shares nothing with the original.
 */
export function toJson(value: unknown): ToJson {
  try {
    return { ok: true, value: copied(value, [], []) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.message };
    throw error;
  }
}

class NotJson extends Error {}

type Keys = (string | number)[];

function refuse(path: Keys, what: string): never {
  throw new NotJson(`${path.length === 0 ? 'the value' : path.join('.')} ${what}`);
}

function copied(value: unknown, path: Keys, within: object[]): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) refuse(path, `is ${value}, which JSON does not have`);
      return value;
    case 'undefined':
      return null;
    case 'object':
      return value === null ? null : copiedObject(value, path, within);
    default:
      return refuse(path, `is a ${typeof value}, which JSON does not have`);
  }
}

function copiedObject(value: object, path: Keys, within: object[]): JsonValue {
  if (within.includes(value)) refuse(path, 'refers to itself');
  if (within.length >= MAX_NESTING) refuse(path, `nests deeper than ${MAX_NESTING} levels`);
  within.push(value);
  const copy = copiedMembers(value, path, within);
  within.pop();
  return copy;
}

function copiedMembers(value: object, path: Keys, within: object[]): JsonValue {
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copied(written(value as { toJSON(): unknown }, path), path, within);
  }
  if (Array.isArray(value)) return copiedItems(value, path, within);
  if (value instanceof Set) return copiedItems([...value], path, within);
  if (value instanceof Map) return copiedEntries([...value], path, within);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    refuse(path, 'is bytes, which JSON does not have');
  const keys = Object.keys(value);
  if (keys.length === 0 && !isPlain(value)) {
    refuse(
      path,
      `is a ${value.constructor?.name ?? 'thing'}, which has nothing that JSON can hold`,
    );
  }
  const copy = {};
  for (const key of keys) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    path.push(key);
    putMember(copy, key, copied(member, path, within));
    path.pop();
  }
  return copy;
}

/** An invalid Date answers null; so would everything be lost that it stood for. */
function written(value: { toJSON(): unknown }, path: Keys): unknown {
  try {
    const json = value.toJSON();
    if (json !== null && json !== value) return json;
  } catch {
    return refuse(path, 'cannot be written as JSON: its toJSON threw');
  }
  return refuse(path, 'cannot be written as JSON');
}

function copiedItems(items: readonly unknown[], path: Keys, within: object[]): JsonValue {
  const copy: JsonValue[] = [];
  for (let index = 0; index < items.length; index += 1) {
    path.push(index);
    copy.push(copied(items[index], path, within));
    path.pop();
  }
  return copy;
}

function copiedEntries(
  entries: readonly (readonly [unknown, unknown])[],
  path: Keys,
  within: object[],
): JsonValue {
  const copy = {};
  for (const [key, member] of entries) {
    if (typeof key !== 'string') refuse(path, `has a key that is a ${typeof key}, not a string`);
    if (member === undefined) continue;
    path.push(key);
    putMember(copy, key, copied(member, path, within));
    path.pop();
  }
  return copy;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
