/**
 * The text with every secret replaced, also where a server echoes it inside JSON or an address.
 * Long secrets go first, so that one which contains another leaves no rest.
 */
export function masked(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of [...secrets].sort((left, right) => right.length - left.length)) {
    if (secret === '') continue;
    for (const form of new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
    ])) {
      clean = clean.split(form).join('***');
    }
  }
  return clean;
}
