import { isJsonObject, type JsonObject, type JsonValue, withMember } from '../base/json.ts';
import { type ExposurePolicy, isExposed } from './exposure.ts';
import type { FieldMark, Mark } from './mark.ts';
import { maskOf } from './mask.ts';

/**
 * The value with its marked fields masked, as far as the policy does not show them. A pure copy: the value itself is
 * not touched, and the very same one is answered when nothing changes.
 *
 * - a path reaches into objects, list items and maps (`*`); a field that is not there, or null, has nothing to hide;
 * - `redaction: 'drop'` takes the field itself out: the member of an object, all items of a list; a place in a tuple and
 *   the root become null;
 * - a marked object or list is masked as a whole.
 */
export function guardValue(
  value: JsonValue,
  marks: readonly Mark[],
  policy: ExposurePolicy,
): JsonValue {
  let guarded: JsonValue | undefined = value;
  for (const { path, field } of marks) {
    if (!isExposed(field, policy)) guarded = applied(guarded ?? null, path, { field, policy });
  }
  return guarded ?? null;
}

type Rule = { readonly field: FieldMark; readonly policy: ExposurePolicy };

/** Undefined means that the place itself goes. */
function applied(value: JsonValue, path: readonly string[], rule: Rule): JsonValue | undefined {
  const [segment, ...rest] = path;
  if (segment === undefined) return leaf(value, rule);
  if (Array.isArray(value)) return inList(value, segment, { ...rule, rest });
  if (!isJsonObject(value)) return value;
  const keys =
    segment === '*' ? Object.keys(value) : Object.hasOwn(value, segment) ? [segment] : [];
  return keys.reduce((object, key) => inObject(object, key, { ...rule, rest }), value);
}

type Below = Rule & { readonly rest: readonly string[] };

function leaf(value: JsonValue, { field, policy }: Rule): JsonValue | undefined {
  if (value === null) return null;
  return field.redaction === 'drop' ? undefined : maskOf(value, field, policy.salt);
}

function inObject(object: JsonObject, key: string, { rest, ...rule }: Below): JsonObject {
  const before = object[key] as JsonValue;
  const after = applied(before, rest, rule);
  if (after === before) return object;
  if (after !== undefined) return withMember(object, key, after);
  return Object.fromEntries(Object.entries(object).filter(([other]) => other !== key));
}

function inList(list: readonly JsonValue[], segment: string, { rest, ...rule }: Below): JsonValue {
  const items = list.map((item, index) =>
    segment === '*' || segment === String(index) ? applied(item, rest, rule) : item,
  );
  if (items.every((item, index) => item === list[index])) return list;
  // Other places of a tuple keep their numbers.
  if (segment !== '*') return items.map((item) => item ?? null);
  return items.filter((item) => item !== undefined);
}
