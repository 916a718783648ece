/** Who owns a run, a conversation or a value. */
export type Scope = { readonly tenantId: string; readonly userId?: string };

/** Who asks: resolved by a transport, never taken from a request body. */
export type Principal = {
  readonly scope: Scope;
  readonly subject: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
};
