import { sealerMissing } from '../base/error-catalog.ts';
import type { Sealer } from '../durable/sealer.ts';
import type { Kept } from '../vocabulary/kept.ts';

/**
 * Puts memory into its stored form: sealed when a sealer is bound, and then bound to its root and place,
 * so that a sealed value opens nowhere else. Without a sealer it is kept as it is.
 */
export function keep<T>(
  value: T,
  options: { readonly sealer: Sealer | undefined; readonly boundTo: string },
): Kept<T> | Promise<Kept<T>> {
  if (options.sealer === undefined) return { plain: value };
  return options.sealer.seal(JSON.stringify(value), options.boundTo).then((sealed) => ({ sealed }));
}

/** Opens what `keep` made. A sealed value without a sealer is an error of the composition. */
export async function opened<T>(
  kept: Kept<T>,
  options: { readonly sealer: Sealer | undefined; readonly boundTo: string },
): Promise<T> {
  if ('plain' in kept) return kept.plain;
  if (options.sealer === undefined) throw sealerMissing(options.boundTo);
  return JSON.parse(await options.sealer.open(kept.sealed, options.boundTo)) as T;
}
