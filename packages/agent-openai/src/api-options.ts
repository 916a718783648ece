import {
  type Clock,
  customHeaderProblems,
  headerProblems,
  isHeaderText,
  type Problem,
  secretsOf,
  systemClock,
  timeoutProblems,
} from '@hexagent/agent-core/adapter';
import { environment } from './environment.ts';

/** Milliseconds. `Infinity` switches a limit off. */
export type Timeouts = {
  /** From the request to the first byte of the answer: connecting counts, and a long prompt may take minutes. */
  readonly firstByteMs: number;
  /** Between two bytes; comments count as life. */
  readonly idleMs: number;
  /** For the whole call, retries and their pauses included. */
  readonly totalMs: number;
};

/** Options of everything that talks to the provider. */
export type ApiOptions = {
  /**
   * The name of this provider: what a run selects, what prices and telemetry go by, and under which reasoning is kept; default
   * `openai`. Another endpoint needs another one.
   */
  readonly id?: string;
  /**
   * Left out: `OPENAI_API_KEY` of the environment, if `baseUrl` is the environment's too. A function is asked before each
   * request.
   */
  readonly apiKey?: string | (() => Promise<string>);
  /** Where the API is, up to and with `/v1`. Left out: `OPENAI_BASE_URL` of the environment, else OpenAI's own. */
  readonly baseUrl?: string;
  /** Left out, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`, under the same condition as the key. */
  readonly organization?: string;
  readonly project?: string;
  /** Sent with every request, after our own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the global one: proxies, tests. */
  readonly fetch?: typeof globalThis.fetch;
  readonly timeouts?: Partial<Timeouts>;
  /** Tries after the first one, before the first event; default 2. */
  readonly retries?: number;
  readonly clock?: Clock;
  /** From 0 up to, not including, 1: the jitter of the pauses between tries. */
  readonly random?: () => number;
};

/** The same, checked and complete. */
export type ApiSettings = {
  readonly id: string;
  /** Empty where the headers say who asks. */
  readonly apiKey: NonNullable<ApiOptions['apiKey']>;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly organization: string | undefined;
  readonly project: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeouts: Timeouts;
  readonly retries: number;
  readonly contextWindow?: number;
  readonly clock: Clock;
  readonly random: () => number;
};

export const DEFAULT_TIMEOUTS: Timeouts = {
  firstByteMs: 300_000,
  idleMs: 120_000,
  totalMs: Number.POSITIVE_INFINITY,
};

export const API_OPTION_NAMES: Readonly<Record<keyof ApiOptions, true>> = {
  id: true,
  apiKey: true,
  baseUrl: true,
  organization: true,
  project: true,
  headers: true,
  fetch: true,
  timeouts: true,
  retries: true,
  clock: true,
  random: true,
};

/** The name of the provider where the options give none. */
export const PROVIDER = 'openai';

/** The client reads it whatever the options say. */
const CUSTOM_HEADERS = 'OPENAI_CUSTOM_HEADERS';

const OPENAI_URL = 'https://api.openai.com/v1';

/** The settings of the options; every problem of them is added to `problems`. */
export function apiSettings(options: ApiOptions, problems: Problem[]): ApiSettings {
  const { id = PROVIDER, headers = {}, clock = systemClock, random = Math.random } = options;
  const home = environment('OPENAI_BASE_URL') ?? OPENAI_URL;
  const baseUrl = options.baseUrl ?? home;
  // What the environment has is meant for one address, and no other is told it.
  const isHome = withoutSlash(baseUrl) === withoutSlash(home);
  const known = (name: string): string | undefined => (isHome ? environment(name) : undefined);
  const apiKey = options.apiKey ?? known('OPENAI_API_KEY') ?? '';
  if (typeof id !== 'string' || id === '') {
    problems.push({
      at: 'id',
      seen: 'it is empty, or no text.',
      mend: 'Give it, or leave it out.',
    });
  }
  checkUrl(baseUrl, problems);
  checkKey(apiKey, { headers, home: isHome ? undefined : home, problems });
  problems.push(...headerProblems(headers));
  problems.push(...customHeaderProblems(CUSTOM_HEADERS, environment(CUSTOM_HEADERS)));
  problems.push(...timeoutProblems(options.timeouts ?? {}, DEFAULT_TIMEOUTS));
  const { retries = 2 } = options;
  if (!(Number.isInteger(retries) && retries >= 0)) {
    problems.push({ at: 'retries', seen: `${retries}.`, mend: 'Use 0 or a whole number above.' });
  }
  return {
    id,
    apiKey,
    baseUrl: withoutSlash(baseUrl),
    organization: options.organization ?? known('OPENAI_ORG_ID'),
    project: options.project ?? known('OPENAI_PROJECT_ID'),
    headers,
    secrets: secretsOf(typeof apiKey === 'string' ? [apiKey] : [], headers),
    fetch: options.fetch,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries,
    clock,
    random,
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function checkUrl(baseUrl: string, problems: Problem[]): void {
  const at = 'baseUrl';
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined) {
    problems.push({
      at,
      seen: `${JSON.stringify(baseUrl)} is not a URL.`,
      mend: `Give the address of the API, such as "${OPENAI_URL}".`,
    });
    return;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    problems.push({ at, seen: `it begins with "${url.protocol}".`, mend: 'Use http: or https:.' });
  }
  if (/\/(responses|chat\/completions|embeddings)\/?$/.test(url.pathname)) {
    problems.push({
      at,
      seen: `it ends in "${url.pathname}".`,
      mend: 'End it before the endpoint, usually in "/v1": the adapter adds the rest.',
    });
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    problems.push({
      at,
      seen: 'it has a query, a fragment or credentials.',
      mend: 'Leave them out; send what the server needs in headers.',
    });
  }
}

function checkKey(
  apiKey: NonNullable<ApiOptions['apiKey']>,
  given: {
    readonly headers: Readonly<Record<string, string>>;
    /** The address of the environment, where the one that is asked is another. */
    readonly home: string | undefined;
    readonly problems: Problem[];
  },
): void {
  const { headers, home, problems } = given;
  const at = 'apiKey';
  if (typeof apiKey === 'function') return;
  const isInHeaders = Object.keys(headers).some((name) => /^(authorization|api-key)$/i.test(name));
  if (apiKey === '' && !isInHeaders) {
    problems.push({
      at,
      seen: 'it is missing or empty.',
      mend:
        home === undefined
          ? 'Give one, or set OPENAI_API_KEY in the environment.'
          : `Give one: that of the environment goes to ${home} only.`,
    });
  }
  if (!isHeaderText(apiKey)) {
    problems.push({
      at,
      seen: 'it has a character that no header may have.',
      mend: 'Check for a line break at its end.',
    });
  }
}
