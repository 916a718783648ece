/** The token of `Authorization: Bearer …`; undefined when there is none. Source: RFC 6750, section 2.1. */
export function bearerTokenOf({ headers }: Request): string | undefined {
  return /^Bearer +([\w~+/.=-]+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
}
