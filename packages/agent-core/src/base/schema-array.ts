import type { JsonObject } from './json.ts';
import { type Compiling, type Visit, visitMember } from './schema-visit.ts';

/** Items, tuples and sizes of a list; undefined when the schema says nothing of them. */
export function arrayRule(
  schema: JsonObject,
  at: string,
  { compile }: Compiling,
): Visit | undefined {
  const { minItems, maxItems } = schema as {
    readonly minItems?: number;
    readonly maxItems?: number;
  };
  const { tuple, rest } = itemSchemas(schema);
  if ((tuple ?? rest ?? minItems ?? maxItems) === undefined) return undefined;
  const places = tuple?.map((item, index) => compile(item, `${at}.items[${index}]`)) ?? [];
  const others = typeof rest === 'object' ? compile(rest, `${at}.items`) : undefined;
  const least = minItems ?? 0;
  const most = Math.min(
    maxItems ?? Number.POSITIVE_INFINITY,
    rest === false ? places.length : Number.POSITIVE_INFINITY,
  );
  return (value, found) => {
    if (!Array.isArray(value)) return value;
    if (value.length < least)
      found.push({ path: [], text: `must have at least ${least} items, has ${value.length}` });
    if (value.length > most)
      found.push({ path: [], text: `must have at most ${most} items, has ${value.length}` });
    let completed: unknown[] = value;
    for (let index = 0; index < value.length; index += 1) {
      const visit = places[index] ?? others;
      if (visit === undefined) continue;
      const item: unknown = visitMember(visit, { key: index, value: value[index] }, found);
      if (item === value[index]) continue;
      if (completed === value) completed = [...value];
      completed[index] = item;
    }
    return completed;
  };
}

type ItemSchemas = { readonly tuple: readonly unknown[] | undefined; readonly rest: unknown };

/** Both spellings of a tuple: `prefixItems` with `items`, and a list in `items` with `additionalItems`. */
function itemSchemas(schema: JsonObject): ItemSchemas {
  const { items, prefixItems, additionalItems } = schema;
  if (Array.isArray(items)) return { tuple: items, rest: additionalItems };
  return { tuple: prefixItems as readonly unknown[] | undefined, rest: items };
}
