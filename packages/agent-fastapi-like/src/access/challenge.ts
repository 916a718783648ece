/**
 * What a 401 asks for: who has shown a token is told that it is the token. Source: RFC 6750, section 3.1.
 *
 * @param asked `www-authenticate` of the answer, absent where it has none
 * @param shown `authorization` of the request
 */
export function challengeOf(asked: string | null | undefined, shown = ''): string | undefined {
  if (asked === null || asked === undefined) return undefined;
  return /^Bearer +\S/i.test(shown) ? 'Bearer error="invalid_token"' : asked;
}
