import { inputInvalid } from '../../base/error-catalog.ts';
import type { Page } from '../../base/page.ts';

/** The first items of a sorted list, and where the next page starts. */
export function pageOf<T>(
  sorted: readonly T[],
  { limit, cursorOf }: { readonly limit: number; readonly cursorOf: (item: T) => string },
): Page<T> {
  const items = sorted.slice(0, limit);
  const last = items.at(-1);
  return last === undefined || items.length === sorted.length
    ? { items }
    : { items, next: cursorOf(last) };
}

/** A place in a list that is sorted by an instant and then by an id. */
export type Place = { readonly at: number; readonly id: string };

export function cursorOf({ at, id }: Place): string {
  return `${at}~${id}`;
}

/** Reads what `cursorOf` wrote; anything else was not made here and is refused. */
export function placeOfCursor(cursor: string): Place {
  const [, at, id] = /^(\d+)~(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || id === undefined) {
    throw inputInvalid('The query', [
      {
        at: 'after',
        seen: `${JSON.stringify(cursor)} is not a cursor of this list.`,
        mend: 'Hand back the `next` of the page before, unchanged.',
      },
    ]);
  }
  return { at: Number(at), id };
}

/** By instant, then by id (code units). */
export function comparePlaces(left: Place, right: Place): number {
  if (left.at !== right.at) return left.at - right.at;
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}
