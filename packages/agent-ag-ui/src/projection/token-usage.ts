import type { TokenUsage } from '@ag-ui/core';
import { totalTokens, type Usage } from '@hexagent/agent-core';

/** Usage as the protocol counts it: parts are included in their totals, as in the core. Nothing when nobody said. */
export function tokenUsage(usage: Usage): { readonly usage?: TokenUsage[] } {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  const counts = {
    inputTokens,
    outputTokens,
    totalTokens: totalTokens(usage),
    cachedInputTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    reasoningTokens,
  };
  const known = Object.entries(counts).filter(([, count]) => count !== undefined);
  return known.length === 0 ? {} : { usage: [Object.fromEntries(known)] };
}
