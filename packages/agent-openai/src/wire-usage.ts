import type { Usage } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** Usage of either API: the prompt counts as a whole, what was read from and written to the cache included. */
export function wireUsage(value: JsonValue | undefined): Usage {
  if (!isJsonObject(value)) return {};
  const input = detailsOf(value['input_tokens_details'] ?? value['prompt_tokens_details']);
  const output = detailsOf(value['output_tokens_details'] ?? value['completion_tokens_details']);
  return {
    ...counted('inputTokens', value['input_tokens'] ?? value['prompt_tokens']),
    ...counted('outputTokens', value['output_tokens'] ?? value['completion_tokens']),
    ...counted('cachedInputTokens', input['cached_tokens']),
    ...counted('cacheWriteTokens', input['cache_write_tokens']),
    ...counted('reasoningTokens', output['reasoning_tokens']),
  };
}

function detailsOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function counted(field: keyof Usage, value: JsonValue | undefined): Usage {
  return typeof value === 'number' ? { [field]: value } : {};
}
