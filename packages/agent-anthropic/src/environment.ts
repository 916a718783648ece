import { headerProblems, type Problem } from '@hexagent/agent-core/adapter';

/** The SDK reads the variable whatever the options say, and sends nothing where that fails. */
export function environmentProblems(): readonly Problem[] {
  const lines = globalThis.process?.env['ANTHROPIC_CUSTOM_HEADERS']?.trim() ?? '';
  const headers = Object.fromEntries(
    lines.split('\n').flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()]];
    }),
  );
  if (headerProblems(headers).length === 0) return [];
  return [
    {
      at: 'ANTHROPIC_CUSTOM_HEADERS',
      seen: 'it is no list of headers.',
      mend: 'Unset it in the environment: it is not sent, headers are given as an option; but the SDK reads it.',
    },
  ];
}
