/** A part of a list. `next` is opaque: hand it back as `after`; absent on the last page. */
export type Page<T> = { readonly items: readonly T[]; readonly next?: string };
