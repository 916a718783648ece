import type { ModelCapabilities } from '@hexagent/agent-core';

/** What one kind of server wants and can do, as data. */
export type ServerProfile = {
  /** Also the name of the provider, by which opaque provider state finds its way back. */
  readonly name: string;
  /** Under which name earlier reasoning is sent back; `none` leaves it out. */
  readonly reasoningReplay: 'reasoning' | 'reasoning_content' | 'reasoning_details' | 'none';
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether `stream_options.include_usage` is understood. */
  readonly streamUsage: boolean;
  /** Whether tools are sent with `strict: true`. */
  readonly strictTools: boolean;
  /** `nine-characters`: ids are rewritten to nine letters and digits, as Mistral's templates demand. */
  readonly toolCallIds: 'keep' | 'nine-characters';
  /** `only-that-tool`: a named tool is chosen by offering no other. `ignored`: the server does not read the field. */
  readonly toolChoice: 'all' | 'only-that-tool' | 'ignored';
  /** `final-only`: a schema suppresses tool calls, so it is never sent while a tool may be called. */
  readonly structuredOutput: ModelCapabilities['structuredOutput'];
  /** Whether `/tokenize` counts a whole request, template and tools included. */
  readonly countsTokens: boolean;
};

const openaiCompatible: ServerProfile = {
  name: 'openai-compatible',
  reasoningReplay: 'none',
  maxTokensField: 'max_tokens',
  streamUsage: true,
  strictTools: false,
  toolCallIds: 'keep',
  toolChoice: 'all',
  structuredOutput: 'final-only',
  countsTokens: false,
};

/** The servers that are known by name. */
export const SERVER_PROFILES = {
  vllm: {
    ...openaiCompatible,
    name: 'vllm',
    reasoningReplay: 'reasoning',
    maxTokensField: 'max_completion_tokens',
    countsTokens: true,
  },
  'openai-compatible': openaiCompatible,
  ollama: {
    ...openaiCompatible,
    name: 'ollama',
    reasoningReplay: 'reasoning',
    toolChoice: 'ignored',
  },
  'llama.cpp': {
    ...openaiCompatible,
    name: 'llama.cpp',
    reasoningReplay: 'reasoning_content',
    toolChoice: 'only-that-tool',
  },
  sglang: { ...openaiCompatible, name: 'sglang', reasoningReplay: 'reasoning_content' },
  lmstudio: { ...openaiCompatible, name: 'lmstudio', reasoningReplay: 'reasoning_content' },
  openrouter: {
    ...openaiCompatible,
    name: 'openrouter',
    reasoningReplay: 'reasoning_details',
    structuredOutput: 'with-tools',
  },
} as const satisfies Readonly<Record<string, ServerProfile>>;

export type ProfileName = keyof typeof SERVER_PROFILES;

/** A known server, or one that differs from it in some points. */
export type ProfileChoice = ProfileName | ({ readonly base: ProfileName } & Partial<ServerProfile>);

export const PROFILE_NAMES: readonly string[] = Object.keys(SERVER_PROFILES);

export function serverProfile(choice: ProfileChoice): ServerProfile {
  if (typeof choice === 'string') return SERVER_PROFILES[choice];
  const { base, ...differences } = choice;
  return { ...SERVER_PROFILES[base], ...differences };
}
