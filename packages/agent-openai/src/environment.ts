import { headerProblems, type Problem } from '@hexagent/agent-core/adapter';

/** What the official client reads too; absent where there is no environment. */
export function environment(name: string): string | undefined {
  const value = globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
}

/** The client reads the variable whatever the options say, and cannot be made where that fails. */
export function environmentProblems(): readonly Problem[] {
  const headers = Object.fromEntries(
    (environment('OPENAI_CUSTOM_HEADERS') ?? '').split('\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
    }),
  );
  if (headerProblems(headers).length === 0) return [];
  return [
    {
      at: 'OPENAI_CUSTOM_HEADERS',
      seen: 'it is no list of headers.',
      mend: 'Unset it in the environment: it is not sent, headers are given as an option; but the client reads it.',
    },
  ];
}
