import type { Usage } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** What the provider said about tokens in the course of one answer: a later word replaces an earlier one, nothing is added. */
export interface TokenUsage {
  hear(usage: JsonValue | undefined): void;
  neutral(): Usage;
}

export function tokenUsage(): TokenUsage {
  let said: JsonObject = {};
  return {
    hear(usage) {
      if (!isJsonObject(usage)) return;
      const news = Object.entries(usage).filter(([, value]) => value !== null);
      said = { ...said, ...Object.fromEntries(news) };
    },
    neutral: () => neutralUsage(said),
  };
}

/** The provider's `input_tokens` leave out what touched the cache; the neutral number is the whole prompt. */
function neutralUsage(said: JsonObject): Usage {
  const fresh = countOf(said['input_tokens']);
  const read = countOf(said['cache_read_input_tokens']);
  const hour = inside(said['cache_creation'], 'ephemeral_1h_input_tokens');
  const written = countOf(said['cache_creation_input_tokens']) ?? hour;
  return {
    ...counted(
      'inputTokens',
      fresh === undefined ? undefined : fresh + (read ?? 0) + (written ?? 0),
    ),
    ...counted('outputTokens', countOf(said['output_tokens'])),
    ...counted('cachedInputTokens', read),
    ...counted('cacheWriteTokens', written),
    ...counted('cacheWrite1hTokens', hour),
    ...counted('reasoningTokens', inside(said['output_tokens_details'], 'thinking_tokens')),
  };
}

function inside(value: JsonValue | undefined, field: string): number | undefined {
  return isJsonObject(value) ? countOf(value[field]) : undefined;
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function counted(field: keyof Usage, count: number | undefined): Usage {
  return count === undefined ? {} : { [field]: count };
}
