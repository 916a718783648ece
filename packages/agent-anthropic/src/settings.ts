import {
  customHeaderProblems,
  inputInvalid,
  secretsOf,
  systemClock,
} from '@hexagent/agent-core/adapter';
import {
  type AnthropicOptions,
  DEFAULT_API_VERSION,
  DEFAULT_BASE_URL,
  DEFAULT_MAX_TOKENS,
  DEFAULT_TIMEOUTS,
  type Thinking,
  type Timeouts,
} from './anthropic-options.ts';
import { checkOptions } from './check-options.ts';
import { version } from './version.ts';

/** The options, checked and complete. */
export type Settings = Omit<
  Required<AnthropicOptions>,
  | 'apiKey'
  | 'apiVersion'
  | 'auth'
  | 'contextWindow'
  | 'effort'
  | 'fetch'
  | 'headers'
  | 'thinking'
  | 'timeouts'
> & {
  /** All headers of a request but those of its content and its id; one with null is not sent, also where the SDK would. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly apiKey: string | undefined;
  readonly secrets: readonly string[];
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeouts: Timeouts;
  readonly thinking: Thinking | undefined;
  readonly effort: AnthropicOptions['effort'];
  readonly contextWindow: number | undefined;
};

/** The SDK reads it whatever the options say. */
const CUSTOM_HEADERS = 'ANTHROPIC_CUSTOM_HEADERS';

/** Checks everything and reports every problem at once, with `INPUT_INVALID`. */
export function settingsOf(options: AnthropicOptions): Settings {
  const custom = globalThis.process?.env[CUSTOM_HEADERS];
  const problems = [...checkOptions(options), ...customHeaderProblems(CUSTOM_HEADERS, custom)];
  if (problems.length > 0) throw inputInvalid('anthropic(options)', problems);
  const { apiKey, baseUrl = DEFAULT_BASE_URL } = options;
  return {
    model: options.model,
    id: options.id ?? 'anthropic',
    apiKey,
    baseUrl: new URL(baseUrl).href.replace(/\/+$/, '').replace(/\/v1$/, ''),
    headers: headersOf(options),
    secrets: secretsOf(apiKey === undefined ? [] : [apiKey], options.headers ?? {}),
    fetch: options.fetch,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries: options.retries ?? 2,
    maxTokens: options.maxTokens ?? DEFAULT_MAX_TOKENS,
    thinking: options.thinking,
    effort: options.effort,
    promptCache: options.promptCache ?? false,
    parallelTools: options.parallelTools ?? true,
    strictTools: options.strictTools ?? false,
    structuredOutput: options.structuredOutput ?? 'with-tools',
    serverTools: options.serverTools ?? [],
    extra: options.extra ?? {},
    contextWindow: options.contextWindow,
    inputModalities: options.inputModalities ?? ['text', 'image', 'document'],
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** The key goes where `auth` says. Nothing is left to the SDK, which prefers what `ANTHROPIC_CUSTOM_HEADERS` of the environment says. */
function headersOf(options: AnthropicOptions): Readonly<Record<string, string | null>> {
  const { apiKey, auth = 'bearer', apiVersion = DEFAULT_API_VERSION, headers = {} } = options;
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const isBearer = apiKey !== undefined && auth !== 'x-api-key';
  return {
    'user-agent': `hexagent-agent-anthropic/${version}`,
    'anthropic-version': apiVersion,
    authorization: isBearer ? `Bearer ${apiKey}` : null,
    'x-api-key': apiKey === undefined || auth === 'bearer' ? null : apiKey,
    ...Object.fromEntries(own),
  };
}
