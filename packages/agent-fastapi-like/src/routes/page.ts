/** The schema has let digits only pass. */
export function limitOf(digits: string | undefined): { readonly limit?: number } {
  return digits === undefined ? {} : { limit: Number(digits) };
}

export function afterOf(digits: string | undefined): { readonly after?: number } {
  return digits === undefined ? {} : { after: Number(digits) };
}
