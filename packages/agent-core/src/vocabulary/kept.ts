/** Memory: exact, never shown, sealed when a Sealer is bound. Core wraps and opens it; a store keeps it as it comes. */
export type Kept<T> = { readonly plain: T } | { readonly sealed: string };
