/** Longer ones are refused by vLLM; so are `@`, `/`, `\` and NUL. */
const ALPHABET = { '+': '-', '/': '_', '=': '' } as const;

/**
 * The salt of a tenant: HMAC-SHA256 of its id under a secret of the operator, as 43 characters of base64url. Nobody who
 * does not know the secret can make the salt of another tenant, or tell from one whose it is. Requests without a
 * tenant share a salt of their own.
 */
export function cacheSalts(secret: string): (tenantId: string | undefined) => Promise<string> {
  const encoder = new TextEncoder();
  const { subtle } = globalThis.crypto;
  let key: ReturnType<typeof importKey> | undefined;
  const importKey = () =>
    subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ]);
  return async (tenantId) => {
    key ??= importKey();
    const text = tenantId === undefined ? 'no tenant' : `tenant ${tenantId}`;
    const mac = await subtle.sign('HMAC', await key, encoder.encode(text));
    return btoa(String.fromCharCode(...new Uint8Array(mac))).replace(
      /[+/=]/g,
      (sign) => ALPHABET[sign as keyof typeof ALPHABET],
    );
  };
}
