/** A value as a definition error shows it. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  return JSON.stringify(value) ?? 'undefined';
}
