import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** Edited arguments as they were meant, or the masks that are left in them and stand for nothing any more. */
export type RestoredEdit =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Whoever edits the arguments of a call sees its marked fields masked, or not at all. What is left as it was shown is the value itself
 * again; what was taken out unseen is put back. A mask that has been moved to another place cannot be read: it is a problem, and the tool
 * never runs with it.
 *
 * @param options `shown`: the arguments of the question; `exact`: the ones that it is about
 */
export function restoreMasked(
  edited: JsonObject,
  { shown, exact }: { readonly shown: JsonValue | undefined; readonly exact: JsonObject },
): RestoredEdit {
  if (shown === undefined || same(shown, exact)) return { ok: true, input: edited };
  const input = restored(edited, { shown, exact }) as JsonObject;
  const masks = new Set(masksOf(shown, exact));
  const left = leavesOf(input).filter((leaf) => masks.has(leaf));
  if (left.length === 0) return { ok: true, input };
  return {
    ok: false,
    problems: [...new Set(left)].map(
      (mask) =>
        `${JSON.stringify(mask)} stands for a value that was not shown: write it out, or leave it where it was`,
    ),
  };
}

type Pair = { readonly shown: JsonValue | undefined; readonly exact: JsonValue };

function restored(edited: JsonValue, { shown, exact }: Pair): JsonValue {
  if (shown === undefined || same(shown, exact)) return edited;
  if (isJsonObject(edited) && isJsonObject(shown) && isJsonObject(exact))
    return restoredObject(edited, shown, exact);
  if (Array.isArray(edited) && Array.isArray(shown) && Array.isArray(exact)) {
    const aligned = edited.length === shown.length && shown.length === exact.length;
    if (aligned)
      return edited.map((item, index) =>
        restored(item, { shown: shown[index], exact: exact[index] as JsonValue }),
      );
  }
  return same(edited, shown) ? exact : edited;
}

function restoredObject(edited: JsonObject, shown: JsonObject, exact: JsonObject): JsonObject {
  const members = Object.entries(edited).map(([key, value]) => [
    key,
    Object.hasOwn(exact, key)
      ? restored(value, { shown: shown[key], exact: exact[key] as JsonValue })
      : value,
  ]);
  const unseen = Object.entries(exact).filter(
    ([key]) => !Object.hasOwn(shown, key) && !Object.hasOwn(edited, key),
  );
  return Object.fromEntries([...members, ...unseen]);
}

/** The texts that stand in place of a value. */
function masksOf(shown: JsonValue | undefined, exact: JsonValue): readonly string[] {
  if (shown === undefined || same(shown, exact)) return [];
  if (isJsonObject(shown) && isJsonObject(exact))
    return Object.entries(exact).flatMap(([key, value]) => masksOf(shown[key], value));
  if (Array.isArray(shown) && Array.isArray(exact))
    return exact.flatMap((item, index) => masksOf(shown[index], item));
  return typeof shown === 'string' ? [shown] : [];
}

function leavesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(leavesOf);
}

function same(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
