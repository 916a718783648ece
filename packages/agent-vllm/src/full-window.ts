import type { Usage } from '@hexagent/agent-core';
import { type AgentError, modelContextOverflow } from '@hexagent/agent-core/adapter';

/** As many tokens are no answer: the server had to give one, and there was room for no more. */
const NO_ANSWER = 1;

/**
 * The error of an answer that ends with the reason "length" because its prompt has filled the window. Undefined for one that says
 * something, which was cut as any other, for one that has as many tokens as were asked for, and where the server does not tell enough.
 */
export function fullWindow(
  { inputTokens, outputTokens }: Usage,
  {
    at,
    window,
    maxTokens = Number.POSITIVE_INFINITY,
  }: {
    readonly at: string;
    readonly window: number | undefined;
    readonly maxTokens: number | undefined;
  },
): AgentError | undefined {
  if (window === undefined || inputTokens === undefined || outputTokens === undefined) {
    return undefined;
  }
  const isFull = inputTokens + outputTokens >= window;
  if (!isFull || outputTokens > NO_ANSWER || outputTokens >= maxTokens) return undefined;
  return modelContextOverflow({
    at,
    reason: `the prompt of ${inputTokens} tokens fills the window of ${window}`,
    cause: { kind: 'context-overflow', window, inputTokens, outputTokens, isExact: true },
  });
}
