import type { ServerProfile } from './server-profile.ts';

const openaiCompatible: ServerProfile = {
  name: 'openai-compatible',
  reasoningReplay: 'none',
  thinking: 'effort',
  callState: 'none',
  maxTokensField: 'max_tokens',
  streamUsage: true,
  strictTools: false,
  toolCallIds: 'keep',
  toolChoice: 'all',
  structuredOutput: 'final-only',
  tokenCount: 'none',
  contextWindow: 'models',
  metrics: 'none',
  promptCache: 'none',
  cacheSalt: false,
  priority: false,
  overflow: 'refused',
  media: { image: ['url', 'inline'], audio: ['inline'], video: [], document: ['inline'] },
  inlineAudio: 'input_audio',
};

const gemini: ServerProfile = {
  ...openaiCompatible,
  name: 'gemini',
  callState: 'extra_content',
  contextWindow: 'none',
  promptCache: 'automatic',
  media: { image: ['inline'], audio: ['inline'], video: [], document: [] },
};

/** The servers that are known by name. */
export const SERVER_PROFILES = {
  vllm: {
    ...openaiCompatible,
    name: 'vllm',
    reasoningReplay: 'reasoning',
    thinking: 'template',
    maxTokensField: 'max_completion_tokens',
    tokenCount: 'tokenize-messages',
    metrics: 'vllm',
    promptCache: 'automatic',
    cacheSalt: true,
    priority: true,
    media: {
      image: ['url', 'inline'],
      audio: ['url', 'inline'],
      video: ['url', 'inline'],
      document: [],
    },
  },
  'openai-compatible': openaiCompatible,
  ollama: {
    ...openaiCompatible,
    name: 'ollama',
    reasoningReplay: 'reasoning',
    toolChoice: 'ignored',
    contextWindow: 'none',
    promptCache: 'automatic',
    overflow: 'truncated',
    media: { image: ['inline'], audio: [], video: [], document: [] },
  },
  'llama.cpp': {
    ...openaiCompatible,
    name: 'llama.cpp',
    reasoningReplay: 'reasoning_content',
    thinking: 'template-only',
    toolChoice: 'only-that-tool',
    tokenCount: 'template-then-tokenize',
    contextWindow: 'models-and-props',
    metrics: 'llama.cpp',
    promptCache: 'automatic',
    media: { image: ['url', 'inline'], audio: ['inline'], video: [], document: [] },
  },
  sglang: {
    ...openaiCompatible,
    name: 'sglang',
    reasoningReplay: 'reasoning_content',
    thinking: 'template',
    metrics: 'sglang',
    promptCache: 'automatic',
    media: {
      image: ['url', 'inline'],
      audio: ['url', 'inline'],
      video: ['url', 'inline'],
      document: [],
    },
    inlineAudio: 'audio_url',
  },
  lmstudio: {
    ...openaiCompatible,
    name: 'lmstudio',
    reasoningReplay: 'reasoning_content',
    thinking: 'none',
    contextWindow: 'none',
    promptCache: 'automatic',
    media: { image: ['inline'], audio: [], video: [], document: [] },
  },
  openrouter: {
    ...openaiCompatible,
    name: 'openrouter',
    reasoningReplay: 'reasoning_details',
    thinking: 'reasoning',
    structuredOutput: 'with-tools',
    promptCache: 'marked',
    media: {
      image: ['url', 'inline'],
      audio: ['inline'],
      video: ['url', 'inline'],
      document: ['url', 'inline'],
    },
  },
  gemini,
  vertex: { ...gemini, name: 'vertex' },
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
