import { type ModelRequest, textOf } from '@hexagent/agent-core';
import { cacheBreakpoints, shortHash } from '@hexagent/agent-core/adapter';
import type { PerRequest, Settings } from './openai-options.ts';

/** What a request says about keeping its prompt. */
export type PromptCachePlan = {
  readonly fields: {
    readonly prompt_cache_key?: string;
    readonly prompt_cache_retention?: '24h';
    readonly prompt_cache_options?: {
      readonly mode: 'implicit' | 'explicit';
      readonly ttl?: '30m';
    };
  };
  /** Messages after which the prompt is worth keeping, by index. Empty where the wire has no marks. */
  readonly breakpoints: readonly number[];
};

/** The mark of a content block behind which the prompt is kept. */
export const CACHE_MARK = { mode: 'explicit' } as const;

/** Beside them the provider sets one by itself, and takes four. */
const MOST_MARKS = 3;
/** What the provider keeps by itself. */
const SHORT_TTL_SECONDS = 300;
const LONGEST_KEY = 64;

/**
 * OpenAI keeps prompts by itself; what a request can do is to be sent to where its beginning was kept, to ask for a
 * longer life, and, with later models, to mark places.
 */
export function promptCachePlan(
  request: ModelRequest,
  model: string,
  settings: Settings,
): PromptCachePlan {
  const cache = request.cache ?? cacheOf(request, settings.promptCache);
  const isMarked = settings.promptCacheMode === 'breakpoints';
  if (cache?.breakpoints.length === 0) {
    // Explicit marks only, and none of them: nothing is kept.
    const fields = isMarked ? { prompt_cache_options: { mode: 'explicit' } as const } : {};
    return { fields, breakpoints: [] };
  }
  const key = { prompt_cache_key: keyOf(request, model, settings.promptCacheKey) };
  if (cache === undefined) return { fields: key, breakpoints: [] };
  if (isMarked) {
    return {
      fields: { ...key, prompt_cache_options: { mode: 'implicit', ttl: '30m' } },
      breakpoints: cache.breakpoints.slice(-MOST_MARKS),
    };
  }
  const { ttlSeconds = SHORT_TTL_SECONDS } = cache;
  const isLong = ttlSeconds > SHORT_TTL_SECONDS;
  return { fields: isLong ? { ...key, prompt_cache_retention: '24h' } : key, breakpoints: [] };
}

function cacheOf(
  { messages }: ModelRequest,
  promptCache: Settings['promptCache'],
): ModelRequest['cache'] {
  if (promptCache === undefined) return undefined;
  if (promptCache === false) return { breakpoints: [] };
  return {
    breakpoints: cacheBreakpoints(messages),
    ttlSeconds: promptCache === '1h' ? 3600 : SHORT_TTL_SECONDS,
  };
}

/** The tenant, and how the conversation begins: the same in all its steps and turns, and in no other tenant's. */
function keyOf(request: ModelRequest, model: string, option: PerRequest | undefined): string {
  const given = perRequest(option, request);
  if (given !== undefined) return given.slice(0, LONGEST_KEY);
  const { messages, tenantId } = request;
  const begin = messages.findIndex(({ role }) => role !== 'system');
  const first = messages.slice(0, begin + 1).map(({ parts }) => textOf(parts));
  return shortHash(JSON.stringify([tenantId, model, first]), 32);
}

export function perRequest(
  option: PerRequest | undefined,
  request: ModelRequest,
): string | undefined {
  return typeof option === 'function' ? option(request) : option;
}
