import type { JsonObject } from '@hexagent/agent-core';
import type { Clock } from '@hexagent/agent-core/adapter';

/** Milliseconds. `Infinity` switches a limit off. */
export type Timeouts = {
  /** From the request to the first byte of the answer: a long prompt may take minutes. */
  readonly firstByteMs: number;
  /** Between two bytes; `ping` events and comments count as life. */
  readonly idleMs: number;
  /** For the whole call, retries and their pauses included. */
  readonly totalMs: number;
};

/** How a model thinks before it answers. Which kinds a model takes is the provider's to say. */
export type Thinking =
  | { readonly type: 'adaptive'; readonly display?: 'summarized' | 'omitted' }
  | {
      readonly type: 'enabled';
      /** Tokens: 1,024 at least, and less than `maxTokens`. */
      readonly budgetTokens: number;
      readonly display?: 'summarized' | 'omitted';
    }
  | { readonly type: 'disabled' };

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export type AnthropicOptions = {
  /** A request's selection wins over it. */
  readonly model: string;
  /** Needed for the provider's own address; other servers may do without. */
  readonly apiKey?: string;
  /** Where the API is; a `/v1` at its end is left out. Default `https://api.anthropic.com`. */
  readonly baseUrl?: string;
  /** How the key is sent: `Authorization: Bearer` (default), `x-api-key` for servers that know only that, or both. */
  readonly auth?: 'bearer' | 'x-api-key' | 'both';
  /** The header `anthropic-version`; default `2026-10-21`. */
  readonly apiVersion?: string;
  /**
   * The name of this provider: what a run selects, what prices and telemetry go by, and under which thinking is kept; default
   * `anthropic`. Another server needs another one.
   */
  readonly id?: string;
  /** Sent with every request, after our own: `{ 'anthropic-beta': '…' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the global one: proxies, other runtimes, tests. */
  readonly fetch?: typeof globalThis.fetch;
  readonly timeouts?: Partial<Timeouts>;
  /** Tries after the first one, before the first event; default 2. */
  readonly retries?: number;
  /** Tokens that an answer may have where the agent sets no limit, thinking included; default 16,384. */
  readonly maxTokens?: number;
  readonly thinking?: Thinking;
  readonly effort?: (typeof EFFORTS)[number];
  /** How long the provider keeps prompts where the agent says nothing; default `false`, not at all. */
  readonly promptCache?: false | '5m' | '1h';
  /** False asks for one call at a time; default `true`. */
  readonly parallelTools?: boolean;
  /** True has the arguments of calls made by a grammar of the tool's schema; default `false`. */
  readonly strictTools?: boolean;
  /** When an output schema is sent; default `with-tools`. Servers whose grammar suppresses calls (vLLM) need `final-only`. */
  readonly structuredOutput?: 'with-tools' | 'final-only' | 'none';
  /** The provider's own tools, which run there and ask nobody: `{ type: 'web_search_20260318', name: 'web_search' }`. */
  readonly serverTools?: readonly JsonObject[];
  /** More fields of the request body, at its top level: `{ service_tier: 'auto' }`. */
  readonly extra?: JsonObject;
  /** Tokens of input and output together. */
  readonly contextWindow?: number;
  /** What the model can read; default `['text', 'image', 'document']`. */
  readonly inputModalities?: readonly string[];
  readonly clock?: Clock;
  /** From 0 up to, not including, 1: the jitter of the pauses between tries. */
  readonly random?: () => number;
};

/** The one that this package reads; a later SDK does not change it. */
export const DEFAULT_API_VERSION = '2026-10-21';

export const DEFAULT_BASE_URL = 'https://api.anthropic.com';

export const DEFAULT_TIMEOUTS: Timeouts = {
  firstByteMs: 300_000,
  idleMs: 120_000,
  totalMs: Number.POSITIVE_INFINITY,
};

export const DEFAULT_MAX_TOKENS = 16_384;
