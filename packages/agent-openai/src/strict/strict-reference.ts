import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** Thrown, and caught in this folder, where strict mode cannot express a schema. */
export class NotStrict extends Error {}

/** What a local reference points to: the root, or a definition of it. */
export function targetOf(root: JsonObject, ref: string): JsonValue {
  if (ref === '#') return root;
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref);
  const defined = root[match?.[1] ?? ''];
  const name = unescaped(match?.[2] ?? '');
  const target = isJsonObject(defined) && Object.hasOwn(defined, name) ? defined[name] : undefined;
  if (target === undefined) throw new NotStrict();
  return target;
}

/** The name of the definition in the strict schema: both places of definitions become one, so the old one is part of it. */
export function refName(ref: string): string {
  const name = ref.replace(/^#\/\$defs\//, '').replace(/^#\/definitions\//, 'definitions_');
  return name.replace(/[^a-zA-Z0-9_.-]/g, '_');
}

function unescaped(pointer: string): string {
  try {
    return decodeURIComponent(pointer).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new NotStrict();
  }
}

/** Whether a schema itself lets null through. */
export function acceptsNull(
  schema: JsonValue,
  root: JsonObject,
  seen: ReadonlySet<string> = new Set(),
): boolean {
  if (!isJsonObject(schema)) return false;
  const { $ref, type, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') {
    return !seen.has($ref) && acceptsNull(targetOf(root, $ref), root, new Set([...seen, $ref]));
  }
  const branches = anyOf ?? oneOf ?? allOf;
  if (Array.isArray(branches)) {
    return branches.some((branch: JsonValue) => acceptsNull(branch, root, seen));
  }
  if (schema['const'] !== undefined) return schema['const'] === null;
  if (Array.isArray(schema['enum'])) return schema['enum'].includes(null) && isNullTyped(type);
  return type !== undefined && isNullTyped(type);
}

function isNullTyped(type: JsonValue | undefined): boolean {
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'));
}

/** Whether following aliases comes back to where it began: such a schema says nothing. */
export function isCircular(aliases: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const reaches = (from: string, path: readonly string[]): boolean =>
    [...(aliases.get(from) ?? [])].some((to) => path.includes(to) || reaches(to, [...path, to]));
  return [...aliases.keys()].some((from) => reaches(from, [from]));
}
