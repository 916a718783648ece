import type { JsonObject } from '@hexagent/agent-core';
import {
  type Clock,
  inputInvalid,
  type Problem,
  secretsOf,
  systemClock,
} from '@hexagent/agent-core/adapter';
import { checkOptions } from './check-options.ts';
import type { ServerProfile } from './server-profile.ts';
import { serverProfile } from './server-profiles.ts';
import type { Thinking } from './thinking.ts';
import type { Timeouts, VllmOptions } from './vllm-options.ts';

/** The options, checked and complete. */
export type Settings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The part before `/v1`: where `/tokenize` is. */
  readonly rootUrl: string;
  readonly model: string | undefined;
  /** What gives the key, where the option is a function. */
  readonly token: (() => string | Promise<string>) | undefined;
  readonly profile: ServerProfile;
  readonly headers: Readonly<Record<string, string>>;
  /** Those of the options; what `token` gives is not among them. */
  readonly secrets: readonly string[];
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeouts: Timeouts;
  readonly retries: number;
  readonly fields: JsonObject;
  readonly chatTemplateKwargs: JsonObject | undefined;
  readonly thinking: Thinking | undefined;
  readonly cacheSalt: VllmOptions['cacheSalt'];
  readonly priority: VllmOptions['priority'];
  readonly promptCache: false | '5m' | '1h';
  readonly minOutputTokens: number;
  readonly stream: boolean;
  readonly contextWindow: number | undefined;
  readonly inputModalities: readonly string[];
  readonly clock: Clock;
  readonly random: () => number;
};

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  firstByteMs: 300_000,
  idleMs: 120_000,
  totalMs: Number.POSITIVE_INFINITY,
};

/** Checks everything and reports every problem at once, with `INPUT_INVALID`. */
export function settingsOf(options: VllmOptions): Settings {
  const problems: Problem[] = [];
  const url = checkOptions(options, { limits: DEFAULT_TIMEOUTS, problems });
  if (problems.length > 0 || url === undefined) throw inputInvalid('vllm(options)', problems);

  const credentials = credentialsOf(url);
  const baseUrl = url.href.replace(/\/+$/, '');
  const { apiKey, headers = {}, chatTemplateKwargs } = options;
  return {
    baseUrl,
    rootUrl: baseUrl.replace(/\/v\d+$/, ''),
    model: options.model,
    token: isAuthorized(headers) || typeof apiKey === 'string' ? undefined : apiKey,
    profile: named(serverProfile(options.profile ?? 'vllm'), options.id),
    headers: headersOf({ apiKey, credentials: credentials?.basic, headers }),
    secrets: secretsOf(secretsIn(apiKey, credentials), headers),
    fetch: options.fetch,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries: options.retries ?? 2,
    fields: options.extra ?? {},
    chatTemplateKwargs:
      chatTemplateKwargs && Object.keys(chatTemplateKwargs).length > 0
        ? chatTemplateKwargs
        : undefined,
    thinking: options.thinking,
    cacheSalt: options.cacheSalt,
    priority: options.priority,
    promptCache: options.promptCache ?? false,
    minOutputTokens: options.minOutputTokens ?? 256,
    stream: options.stream ?? true,
    contextWindow: options.contextWindow,
    inputModalities: options.inputModalities ?? ['text'],
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** The name of the provider is that of the profile, unless the options give it one of its own. */
function named(profile: ServerProfile, id: string | undefined): ServerProfile {
  return id === undefined ? profile : { ...profile, name: id };
}

type Credentials = { readonly basic: string; readonly password: string };

/** Takes user and password out of the address, where logs and errors would show them. */
function credentialsOf(url: URL): Credentials | undefined {
  if (url.username === '' && url.password === '') return undefined;
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { basic: `Basic ${btoa(String.fromCharCode(...bytes))}`, password };
}

function isAuthorized(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

function headersOf(given: {
  readonly apiKey: VllmOptions['apiKey'];
  readonly credentials: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> {
  const { apiKey, credentials, headers } = given;
  const basic = apiKey === undefined ? credentials : undefined;
  const authorization = typeof apiKey === 'string' ? `Bearer ${apiKey}` : basic;
  const own = authorization === undefined ? {} : { authorization };
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...own, ...Object.fromEntries(lower) };
}

function secretsIn(
  apiKey: VllmOptions['apiKey'],
  credentials: Credentials | undefined,
): readonly string[] {
  const { password = '', basic = '' } = credentials ?? {};
  // A server that echoes the header shows the password in base64, which anybody reads.
  return [typeof apiKey === 'string' ? apiKey : '', password, basic.replace(/^Basic /, '')];
}
