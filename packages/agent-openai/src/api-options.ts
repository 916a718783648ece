import {
  type Clock,
  headerProblems,
  isHeaderText,
  type Problem,
  secretsOf,
  systemClock,
  timeoutProblems,
} from '@hexagent/agent-core/adapter';

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
  /** Left out: `OPENAI_API_KEY` of the environment. A function is asked before each request. */
  readonly apiKey?: string | (() => Promise<string>);
  /** Where the API is, up to and with `/v1`. Left out: `OPENAI_BASE_URL` of the environment, else OpenAI's own. */
  readonly baseUrl?: string;
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
  /** Empty where the headers say who asks. */
  readonly apiKey: string | (() => Promise<string>);
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

const OPENAI_URL = 'https://api.openai.com/v1';
/** The settings of the options; every problem of them is added to `problems`. */
export function apiSettings(options: ApiOptions, problems: Problem[]): ApiSettings {
  const { headers = {}, clock = systemClock, random = Math.random } = options;
  const baseUrl = options.baseUrl ?? environment('OPENAI_BASE_URL') ?? OPENAI_URL;
  const apiKey = options.apiKey ?? environment('OPENAI_API_KEY') ?? '';
  checkUrl(baseUrl, problems);
  checkKey(apiKey, headers, problems);
  problems.push(...headerProblems(headers));
  problems.push(...timeoutProblems(options.timeouts ?? {}, DEFAULT_TIMEOUTS));
  const { retries = 2 } = options;
  if (!(Number.isInteger(retries) && retries >= 0)) {
    problems.push({ at: 'retries', seen: `${retries}.`, mend: 'Use 0 or a whole number above.' });
  }
  return {
    apiKey,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    organization: options.organization ?? environment('OPENAI_ORG_ID'),
    project: options.project ?? environment('OPENAI_PROJECT_ID'),
    headers,
    secrets: secretsOf(typeof apiKey === 'string' ? [apiKey] : [], headers),
    fetch: options.fetch,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries,
    clock,
    random,
  };
}

/** What the official client reads too; absent where there is no environment. */
function environment(name: string): string | undefined {
  const value = globalThis.process?.env[name]?.trim();
  return value === '' ? undefined : value;
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
  headers: Readonly<Record<string, string>>,
  problems: Problem[],
): void {
  const at = 'apiKey';
  if (typeof apiKey === 'function') return;
  const isInHeaders = Object.keys(headers).some((name) => /^(authorization|api-key)$/i.test(name));
  if (apiKey === '' && !isInHeaders) {
    problems.push({
      at,
      seen: 'it is missing or empty.',
      mend: 'Give one, or set OPENAI_API_KEY in the environment.',
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
