import type { JsonObject, ModelRequest } from '@hexagent/agent-core';
import type { Clock } from '@hexagent/agent-core/adapter';
import type { ProfileChoice } from './server-profiles.ts';
import type { Thinking } from './thinking.ts';

/** Milliseconds. `Infinity` switches a limit off. */
export type Timeouts = {
  /** Until the connection stands, the key's function included. Not seen, so not limited, where a `fetch` of yours is used. */
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
  /**
   * The name of this provider: what a run selects, what prices and telemetry go by, and under which opaque state is kept; default
   * the name of the profile. Another server needs another one.
   */
  readonly id?: string;
  /** Left out: the first model that the server lists. A request's selection wins over it. */
  readonly model?: string;
  /**
   * Sent as `Authorization: Bearer …`. A function is asked at the first request; what it gives is used until the server
   * answers 401, then it is asked once more: for tokens that expire.
   */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** What kind of server it is; default `vllm`. */
  readonly profile?: ProfileChoice;
  /** Sent with every request, after our own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Used instead of the `node:http` transport: other runtimes, proxies, tests. */
  readonly fetch?: typeof globalThis.fetch;
  readonly timeouts?: Partial<Timeouts>;
  /** Tries after the first one, before the first event; default 2. */
  readonly retries?: number;
  /** Values for the model's chat template, such as `{ add_date: true }`. They win over `thinking`. */
  readonly chatTemplateKwargs?: JsonObject;
  /** Left out: as the model does by itself. Refused for a server that has no word for it. */
  readonly thinking?: Thinking;
  /** More fields of the request body, at its top level: `{ top_k: 20 }`. */
  readonly extra?: JsonObject;
  /**
   * Keeps the cached prefixes of tenants apart, so that none learns from the time of its answers what another has asked.
   * The salt of a tenant follows from it and `secret`, at least 16 characters that only the operator knows. Off by default.
   */
  readonly cacheSalt?: { readonly secret: string };
  /** Which waiting request goes first: a lower number; 0 is not sent. The server must have priority scheduling. */
  readonly priority?: number | ((request: ModelRequest) => number | undefined);
  /** Marks what to keep of a prompt, for servers that keep only what is marked; default false. */
  readonly promptCache?: false | '5m' | '1h';
  /**
   * A request whose prompt fits and whose `sampling.maxTokens` does not is sent again with as many tokens as there is
   * room for, if that is at least this many (or all that was asked for); default 256. `Infinity` never does.
   */
  readonly minOutputTokens?: number;
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
