import type { JsonObject } from '@hexagent/agent-core';
import { type Clock, inputInvalid, type Problem, systemClock } from '@hexagent/agent-core/adapter';
import {
  PROFILE_NAMES,
  type ProfileChoice,
  type ServerProfile,
  serverProfile,
} from './server-profile.ts';

/** Milliseconds. `Infinity` switches a limit off. */
export type Timeouts = {
  /** Until the connection stands. Not seen, so not limited, where a `fetch` of yours is used. */
  readonly connectMs: number;
  /** From there to the first byte of the answer: a long prompt may take minutes. */
  readonly firstByteMs: number;
  /** Between two bytes; comments count as life. */
  readonly idleMs: number;
  /** For the whole call, retries and their pauses included. */
  readonly totalMs: number;
};

export type VllmOptions = {
  /** Where the API is, up to and with `/v1`. */
  readonly baseUrl: string;
  /** Left out: the first model that the server lists. A request's selection wins over it. */
  readonly model?: string;
  readonly apiKey?: string;
  /** What kind of server it is; default `vllm`. */
  readonly profile?: ProfileChoice;
  /** Sent with every request, after our own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the `node:http` transport: other runtimes, proxies, tests. */
  readonly fetch?: typeof globalThis.fetch;
  readonly timeouts?: Partial<Timeouts>;
  /** Tries after the first one, before the first event; default 2. */
  readonly retries?: number;
  /** Values for the model's chat template, such as `{ enable_thinking: false }`. */
  readonly chatTemplateKwargs?: JsonObject;
  /** More fields of the request body, at its top level: `{ top_k: 20 }`. */
  readonly extra?: JsonObject;
  /** False asks for whole answers instead of streams, for servers whose streams are broken. */
  readonly stream?: boolean;
  /** Tokens; left out, it is what the server says. */
  readonly contextWindow?: number;
  /** What the model can read; default `['text']`. */
  readonly inputModalities?: readonly string[];
  readonly clock?: Clock;
  /** From 0 up to, not including, 1: the jitter of the pauses between tries. */
  readonly random?: () => number;
};

/** The options, checked and complete. */
export type Settings = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The part before `/v1`: where `/tokenize` is. */
  readonly rootUrl: string;
  readonly model: string | undefined;
  readonly profile: ServerProfile;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeouts: Timeouts;
  readonly retries: number;
  readonly fields: JsonObject;
  readonly chatTemplateKwargs: JsonObject | undefined;
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

/** Fields of the body that the adapter writes itself. */
const OWN_FIELDS: readonly string[] = [
  'messages',
  'model',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'response_format',
  'n',
];

const OPTION_NAMES: Readonly<Record<keyof VllmOptions, true>> = {
  baseUrl: true,
  model: true,
  apiKey: true,
  profile: true,
  headers: true,
  fetch: true,
  timeouts: true,
  retries: true,
  chatTemplateKwargs: true,
  extra: true,
  stream: true,
  contextWindow: true,
  inputModalities: true,
  clock: true,
  random: true,
};

const SECRET_HEADER = /auth|key|token|secret|cookie/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a header may not have.
const NOT_IN_HEADER = /[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/;

/** Checks everything and reports every problem at once, with `INPUT_INVALID`. */
export function settingsOf(options: VllmOptions): Settings {
  const problems: Problem[] = [];
  checkNames(options, problems);
  const url = urlOf(options.baseUrl, problems);
  checkHeaders(options, problems);
  checkNumbers(options, problems);
  checkChoices(options, problems);
  if (problems.length > 0 || url === undefined) throw inputInvalid('vllm(options)', problems);

  const credentials = credentialsOf(url);
  const baseUrl = url.href.replace(/\/+$/, '');
  const { apiKey, headers = {}, chatTemplateKwargs } = options;
  return {
    baseUrl,
    rootUrl: baseUrl.replace(/\/v\d+$/, ''),
    model: options.model,
    profile: serverProfile(options.profile ?? 'vllm'),
    headers: headersOf({ apiKey, credentials: credentials?.basic, headers }),
    secrets: secretsOf({ apiKey, password: credentials?.password, headers }),
    fetch: options.fetch,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries: options.retries ?? 2,
    fields: options.extra ?? {},
    chatTemplateKwargs:
      chatTemplateKwargs && Object.keys(chatTemplateKwargs).length > 0
        ? chatTemplateKwargs
        : undefined,
    stream: options.stream ?? true,
    contextWindow: options.contextWindow,
    inputModalities: options.inputModalities ?? ['text'],
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** A name with a slip, such as "apikey", would be left out without a word. */
function checkNames(options: VllmOptions, problems: Problem[]): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTION_NAMES, name)) continue;
    problems.push({
      at: name,
      seen: 'it is not an option.',
      mend: `Remove it; the options are ${Object.keys(OPTION_NAMES).join(', ')}.`,
    });
  }
}

function urlOf(baseUrl: string, problems: Problem[]): URL | undefined {
  const at = 'baseUrl';
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    problems.push({
      at,
      seen: `${JSON.stringify(baseUrl) ?? 'undefined'} is not a URL.`,
      mend: 'Give the address of the server, such as "http://127.0.0.1:8000/v1".',
    });
    return undefined;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    problems.push({ at, seen: `it begins with "${url.protocol}".`, mend: 'Use http: or https:.' });
  }
  if (/\/chat\/completions\/?$/.test(url.pathname)) {
    problems.push({
      at,
      seen: 'it ends in "/chat/completions".',
      mend: 'Leave that out: the adapter adds it.',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    problems.push({
      at,
      seen: 'it has a query or a fragment.',
      mend: 'Leave it out; send what the server needs in headers.',
    });
  }
  return url;
}

function checkHeaders({ apiKey, headers = {} }: VllmOptions, problems: Problem[]): void {
  if (apiKey !== undefined && (apiKey === '' || NOT_IN_HEADER.test(apiKey))) {
    problems.push({
      at: 'apiKey',
      seen: apiKey === '' ? 'it is empty.' : 'it has a character that no header may have.',
      mend: 'Check for a line break at its end, or leave the option out.',
    });
  }
  for (const [name, value] of Object.entries(headers)) {
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) && !NOT_IN_HEADER.test(value)) continue;
    problems.push({
      at: `headers[${JSON.stringify(name)}]`,
      seen: 'its name or value has a character that no header may have.',
      mend: 'Correct or remove it.',
    });
  }
}

function checkNumbers(options: VllmOptions, problems: Problem[]): void {
  for (const [name, value] of Object.entries(options.timeouts ?? {})) {
    if (!(name in DEFAULT_TIMEOUTS)) {
      problems.push({
        at: `timeouts.${name}`,
        seen: 'there is no such limit.',
        mend: `Use ${Object.keys(DEFAULT_TIMEOUTS).join(', ')}.`,
      });
    } else if (!(typeof value === 'number' && value > 0)) {
      problems.push({
        at: `timeouts.${name}`,
        seen: `${String(value)}.`,
        mend: 'Use milliseconds above 0, or Infinity.',
      });
    }
  }
  const { retries, contextWindow } = options;
  if (retries !== undefined && !(Number.isInteger(retries) && retries >= 0)) {
    problems.push({ at: 'retries', seen: `${retries}.`, mend: 'Use 0 or a whole number above.' });
  }
  if (contextWindow !== undefined && !(Number.isInteger(contextWindow) && contextWindow > 0)) {
    problems.push({
      at: 'contextWindow',
      seen: `${contextWindow}.`,
      mend: 'Use a number of tokens above 0.',
    });
  }
}

function checkChoices(options: VllmOptions, problems: Problem[]): void {
  const { profile = 'vllm', model, extra = {} } = options;
  const base = typeof profile === 'string' ? profile : profile.base;
  if (!PROFILE_NAMES.includes(base)) {
    problems.push({
      at: 'profile',
      seen: `${JSON.stringify(base)} is not a known server.`,
      mend: `Use one of ${PROFILE_NAMES.join(', ')}.`,
    });
  }
  if (model === '') {
    problems.push({ at: 'model', seen: 'it is empty.', mend: 'Name a model, or leave it out.' });
  }
  for (const name of OWN_FIELDS.filter((field) => field in extra)) {
    problems.push({
      at: `extra.${name}`,
      seen: 'the adapter writes this field itself.',
      mend: 'Leave it out.',
    });
  }
}

/** Takes user and password out of the address, where logs and errors would show them. */
function credentialsOf(
  url: URL,
): { readonly basic: string; readonly password: string } | undefined {
  if (url.username === '' && url.password === '') return undefined;
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { basic: `Basic ${btoa(String.fromCharCode(...bytes))}`, password };
}

function headersOf(given: {
  readonly apiKey: string | undefined;
  readonly credentials: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> {
  const { apiKey, credentials, headers } = given;
  const authorization = apiKey === undefined ? credentials : `Bearer ${apiKey}`;
  const own = authorization === undefined ? {} : { authorization };
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...own, ...Object.fromEntries(lower) };
}

function secretsOf(given: {
  readonly apiKey: string | undefined;
  readonly password: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}): readonly string[] {
  const { apiKey = '', password = '', headers } = given;
  const inHeaders = Object.entries(headers)
    .filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+ /, '')]);
  return [...new Set([apiKey, password, ...inHeaders])].filter((secret) => secret !== '');
}
