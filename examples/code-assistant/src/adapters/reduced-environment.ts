/** What programs need to work at all; keys, tokens and addresses of this process stay here. */
const KEPT: readonly string[] = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
  'TEMP',
  'USERPROFILE',
];

/** The environment of a program that a model has asked for. */
export function reducedEnvironment(
  extra: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const kept = KEPT.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), NO_COLOR: '1', TERM: 'dumb', ...extra };
}
