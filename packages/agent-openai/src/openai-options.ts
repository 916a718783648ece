import type { JsonObject, ModelRequest } from '@hexagent/agent-core';
import {
  extraProblems,
  inputInvalid,
  MODALITIES,
  nameProblems,
  type Problem,
} from '@hexagent/agent-core/adapter';
import { API_OPTION_NAMES, type ApiOptions, type ApiSettings, apiSettings } from './api-options.ts';

export const APIS = ['responses', 'chat'] as const;
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'] as const;
export const REASONING_EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const;
export const REASONING_SUMMARIES = ['auto', 'concise', 'detailed'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export const PROMPT_CACHE_MODES = ['retention', 'breakpoints'] as const;

/** A fixed value, or one of the request; undefined sends none. */
export type PerRequest = string | ((request: ModelRequest) => string | undefined);

export type ReasoningOptions = {
  readonly effort?: (typeof REASONING_EFFORTS)[number];
  /** Asks for a summary, which comes as `reasoning` events; Responses only. */
  readonly summary?: (typeof REASONING_SUMMARIES)[number];
};

export type OpenAiOptions = ApiOptions & {
  /** A run's own selection wins over it. */
  readonly model: string;
  /** Default `responses`. */
  readonly api?: (typeof APIS)[number];
  /** For a model that reasons. Given, even empty, reasoning is asked for in encrypted form and sent back in the next step. */
  readonly reasoning?: ReasoningOptions;
  readonly verbosity?: (typeof VERBOSITIES)[number];
  readonly serviceTier?: (typeof SERVICE_TIERS)[number];
  /** False: tools and outputs are sent as they are, and the model is not held to them. */
  readonly strict?: boolean;
  /** Whether the model may call several tools at once; the provider's own default is yes. */
  readonly parallelToolCalls?: boolean;
  /** Used where a request does not say: how long the provider should keep the prompt. */
  readonly promptCache?: false | '5m' | '1h';
  /**
   * `retention` for models up to GPT-5.5, `breakpoints` for later ones, which take `prompt_cache_options` and marked places in
   * the prompt; default `retention`.
   */
  readonly promptCacheMode?: (typeof PROMPT_CACHE_MODES)[number];
  /** Where the provider looks for a kept prompt; left out, it is made of the tenant and of how the conversation begins. */
  readonly promptCacheKey?: PerRequest;
  /** Who uses the application, as a hash: the provider's help against misuse. */
  readonly safetyIdentifier?: PerRequest;
  /** More fields of the request body, at its top level. */
  readonly extra?: JsonObject;
  /** Tokens. */
  readonly contextWindow?: number;
  /** What the model can read; default text, images and documents. */
  readonly inputModalities?: readonly string[];
};

/** The options, checked and complete. */
export type Settings = ApiSettings & {
  readonly model: string;
  readonly api: (typeof APIS)[number];
  readonly reasoning: ReasoningOptions | undefined;
  readonly verbosity: OpenAiOptions['verbosity'];
  readonly serviceTier: OpenAiOptions['serviceTier'];
  readonly strict: boolean;
  readonly parallelToolCalls: boolean | undefined;
  readonly promptCache: OpenAiOptions['promptCache'];
  readonly promptCacheMode: (typeof PROMPT_CACHE_MODES)[number];
  readonly promptCacheKey: PerRequest | undefined;
  readonly safetyIdentifier: PerRequest | undefined;
  readonly fields: JsonObject;
  readonly contextWindow?: number;
  readonly inputModalities: readonly string[];
};

const OPTION_NAMES: Readonly<Record<keyof OpenAiOptions, true>> = {
  model: true,
  ...API_OPTION_NAMES,
  api: true,
  reasoning: true,
  verbosity: true,
  serviceTier: true,
  strict: true,
  parallelToolCalls: true,
  promptCache: true,
  promptCacheMode: true,
  promptCacheKey: true,
  safetyIdentifier: true,
  extra: true,
  contextWindow: true,
  inputModalities: true,
};

/** Fields of the body that the adapter writes itself. */
const OWN_FIELDS: readonly string[] = [
  'model',
  'input',
  'instructions',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'response_format',
  'store',
  'n',
  'background',
  'conversation',
  'previous_response_id',
];

/** Checks and completes the options. Throws `INPUT_INVALID` with every problem of them. */
export function settingsOf(options: OpenAiOptions): Settings {
  const problems: Problem[] = [];
  problems.push(...nameProblems(options, OPTION_NAMES));
  const api = apiSettings(options, problems);
  checkChoices(options, problems);
  checkValues(options, problems);
  if (problems.length > 0) throw inputInvalid('The options of agent-openai', problems);
  const { contextWindow, extra = {}, inputModalities = ['text', 'image', 'document'] } = options;
  return {
    ...api,
    model: options.model,
    api: options.api ?? 'responses',
    reasoning: options.reasoning,
    verbosity: options.verbosity,
    serviceTier: options.serviceTier,
    strict: options.strict ?? true,
    parallelToolCalls: options.parallelToolCalls,
    promptCache: options.promptCache,
    promptCacheMode: options.promptCacheMode ?? 'retention',
    promptCacheKey: options.promptCacheKey,
    safetyIdentifier: options.safetyIdentifier,
    fields: extra,
    inputModalities,
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
}

function checkChoices(options: OpenAiOptions, problems: Problem[]): void {
  const { reasoning = {} } = options;
  const choices: readonly (readonly [string, unknown, readonly unknown[]])[] = [
    ['api', options.api, APIS],
    ['reasoning.effort', reasoning.effort, REASONING_EFFORTS],
    ['reasoning.summary', reasoning.summary, REASONING_SUMMARIES],
    ['verbosity', options.verbosity, VERBOSITIES],
    ['serviceTier', options.serviceTier, SERVICE_TIERS],
    ['promptCache', options.promptCache, [false, '5m', '1h']],
    ['promptCacheMode', options.promptCacheMode, PROMPT_CACHE_MODES],
    ...(options.inputModalities ?? []).map(
      (modality, index) => [`inputModalities[${index}]`, modality, MODALITIES] as const,
    ),
  ];
  for (const [at, value, known] of choices) {
    if (value === undefined || known.includes(value)) continue;
    problems.push({
      at,
      seen: `${JSON.stringify(value)} is no choice.`,
      mend: `Use one of ${known.map((one) => JSON.stringify(one)).join(', ')}.`,
    });
  }
}

function checkValues(options: OpenAiOptions, problems: Problem[]): void {
  const { model, contextWindow, extra = {}, inputModalities = [], api } = options;
  if (typeof model !== 'string' || model === '') {
    problems.push({ at: 'model', seen: 'it is missing or empty.', mend: 'Name a model.' });
  }
  for (const [name, isRead] of [
    ['audio', api === 'chat'],
    ['video', false],
  ] as const) {
    if (isRead || !inputModalities.includes(name)) continue;
    problems.push({
      at: 'inputModalities',
      seen: `there is no place for ${name} in a request.`,
      mend: name === 'audio' ? "Use api: 'chat', or leave it out." : 'Leave it out.',
    });
  }
  if (contextWindow !== undefined && !(Number.isInteger(contextWindow) && contextWindow > 0)) {
    problems.push({
      at: 'contextWindow',
      seen: `${contextWindow}.`,
      mend: 'Use a number of tokens above 0.',
    });
  }
  problems.push(...extraProblems(extra, OWN_FIELDS));
}
