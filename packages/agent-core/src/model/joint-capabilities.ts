import type { ModelCapabilities } from './agent-model.ts';

const SUPPORT = ['none', 'final-only', 'with-tools'] as const;

/** What every one of several models can do: a request that fits this fits whichever answers. */
export function commonCapabilities(
  all: readonly [ModelCapabilities, ...ModelCapabilities[]],
): ModelCapabilities {
  const [first] = all;
  const windows = all.flatMap(({ contextWindow }) => contextWindow ?? []);
  const least = Math.min(...all.map(({ structuredOutput }) => SUPPORT.indexOf(structuredOutput)));
  return {
    ...first,
    ...(windows.length === 0 ? {} : { contextWindow: Math.min(...windows) }),
    tools: all.every(({ tools }) => tools),
    reasoning: all.some(({ reasoning }) => reasoning),
    structuredOutput: SUPPORT[least] as ModelCapabilities['structuredOutput'],
    inputModalities: first.inputModalities.filter((kind) =>
      all.every(({ inputModalities }) => inputModalities.includes(kind)),
    ),
  };
}
