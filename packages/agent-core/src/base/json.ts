/** A value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** How deep a value may nest: deeper ones come from an attack or a cycle, and would end a recursion. */
export const MAX_NESTING = 200;

/** True for a plain object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The one text form of a JSON value: keys sorted by code unit, no spaces, `undefined` members left out.
 * Digests are taken over it, so two processes agree on them.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  let members = '';
  for (const key of Object.keys(value).sort()) {
    const member: unknown = (value as { readonly [key: string]: unknown })[key];
    if (member === undefined) continue;
    if (members !== '') members += ',';
    members += `${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Sets an own member, also one that is called `__proto__`. */
export function putMember(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value;
  else
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/** A copy of an object with one member more, or another one; the original is not touched. */
export function withMember(object: JsonObject, key: string, value: JsonValue): JsonObject {
  const copy = { ...object };
  putMember(copy, key, value);
  return copy;
}

/** Freezes a JSON value all the way down, and answers it. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

/** True when a value nests deeper than so many levels; itself never deeper than that. */
export function nestsDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) {
    if (nestsDeeperThan(member, levels - 1)) return true;
  }
  return false;
}
