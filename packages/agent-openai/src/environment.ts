/** What the official client reads too; absent where there is no environment. */
export function environment(name: string): string | undefined {
  const value = globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
}
