import {
  AgentError,
  type ContextOverflow,
  modelContextOverflow,
  overflowOf,
} from '@hexagent/agent-core/adapter';
import type { TokenCount } from './token-count.ts';

/** What is to be done about a request that was too large: send it again with fewer tokens of output, or say so with the numbers. */
export type Remedy =
  | { readonly kind: 'fewer-tokens'; readonly maxTokens: number }
  | { readonly kind: 'error'; readonly error: unknown };

/**
 * Looks for room. Where the server has not told how long the prompt is, `count` is asked; without an exact size nothing
 * is tried, and the error stays as it is.
 */
export async function remedyFor(
  error: unknown,
  request: {
    readonly maxTokens: number | undefined;
    /** Fewer are not worth sending the request again. */
    readonly minOutputTokens: number;
    readonly count: (() => Promise<TokenCount>) | undefined;
  },
): Promise<Remedy> {
  const overflow = overflowOf(error) ?? outputOverflow(error);
  if (overflow === undefined || !AgentError.is(error)) return { kind: 'error', error };
  const exact = overflow.isExact ? overflow : await counted(overflow, request.count);
  const { window, inputTokens } = exact;
  if (!exact.isExact || window === undefined || inputTokens === undefined) {
    return { kind: 'error', error };
  }
  const { maxTokens, minOutputTokens } = request;
  const room = window - inputTokens;
  if (maxTokens !== undefined && room < maxTokens && room >= Math.min(maxTokens, minOutputTokens)) {
    return { kind: 'fewer-tokens', maxTokens: room };
  }
  return { kind: 'error', error: overflow.isExact ? error : withNumbers(error, exact, maxTokens) };
}

/** vLLM asked for more output than its window holds at all: it says nothing of the prompt. */
function outputOverflow(error: unknown): ContextOverflow | undefined {
  if (!AgentError.is(error) || error.code !== 'MODEL_REQUEST_INVALID') return undefined;
  const said = /cannot be greater than max_model_len\D*(\d+)/i.exec(error.message);
  if (said === null) return undefined;
  return { kind: 'context-overflow', window: Number(said[1]), isExact: false };
}

async function counted(
  overflow: ContextOverflow,
  count: (() => Promise<TokenCount>) | undefined,
): Promise<ContextOverflow> {
  if (count === undefined) return overflow;
  try {
    const { count: inputTokens, window = overflow.window } = await count();
    return {
      ...overflow,
      inputTokens,
      ...(window === undefined ? {} : { window }),
      isExact: true,
    };
  } catch (error) {
    // That it does not fit is known; its exact size is an extra. An abort is heard by the caller.
    if (AgentError.is(error)) return overflow;
    throw error;
  }
}

function withNumbers(
  error: AgentError,
  overflow: ContextOverflow,
  maxTokens: number | undefined,
): AgentError {
  const { inputTokens, window } = overflow;
  const output = overflow.outputTokens ?? maxTokens;
  const asked = output === undefined ? '' : ` and ${output} tokens of output were asked for`;
  return modelContextOverflow({
    reason: `${error.message} (counted: the prompt has ${inputTokens} tokens${asked}; the window is ${window})`,
    cause: { ...overflow, ...(output === undefined ? {} : { outputTokens: output }) },
  });
}
