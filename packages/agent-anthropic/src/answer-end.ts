import type { ModelEvent, Usage } from '@hexagent/agent-core';
import {
  type AgentError,
  type ContextOverflow,
  isJsonObject,
  type JsonValue,
  modelContextOverflow,
  modelRefused,
  modelResponseInvalid,
  modelStreamTruncated,
} from '@hexagent/agent-core/adapter';
import type { AnswerBlocks } from './answer-blocks.ts';
import { layoutState } from './turn-layout.ts';

type Finish = Extract<ModelEvent, { type: 'finish' }>;

/** What the provider said until its last word. */
export type EndedAnswer = {
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  /** Tokens, where the window is known. */
  readonly contextWindow: number | undefined;
  readonly stopReason: string | undefined;
  readonly stopDetails: JsonValue | undefined;
  readonly usage: Usage;
  readonly blocks: AnswerBlocks;
};

/** Adds the last events of a whole answer to `sink`; an error where the reason to stop is none to go on with. */
export function endAnswer(answer: EndedAnswer, sink: ModelEvent[]): AgentError | undefined {
  const { at, provider, model, stopReason, usage, blocks } = answer;
  if (stopReason === undefined) {
    return modelStreamTruncated({ at, reason: 'the stream ended without a reason to stop' });
  }
  if (stopReason === 'refusal') return refused(answer);
  if (stopReason === 'model_context_window_exceeded') return overflowed(answer);
  const { reason, unnamed } = blocks.finish(neutralReason(stopReason));
  if (unnamed > 0 && reason !== 'length') {
    return modelResponseInvalid({
      at,
      reason: 'it sent a tool call without a name',
      retryable: true,
    });
  }
  const layout = { items: blocks.layout(), isPaused: reason === 'continue' };
  const state = layoutState(layout, provider);
  if (state !== undefined) sink.push({ type: 'provider-state', state });
  sink.push({ type: 'finish', reason, usage, model });
  return undefined;
}

function neutralReason(reason: string): Finish['reason'] {
  switch (reason) {
    case 'tool_use':
      return 'tool-calls';
    case 'max_tokens':
      return 'length';
    case 'pause_turn':
      return 'continue';
    default:
      return 'stop';
  }
}

/** A refusal has a category and words, where the policy that it follows has some. */
function refused({ at, stopDetails }: EndedAnswer): AgentError {
  const { category, explanation } = isJsonObject(stopDetails) ? stopDetails : {};
  const kind = typeof category === 'string' ? ` (${category})` : '';
  const words = typeof explanation === 'string' ? `: ${explanation}` : '';
  return modelRefused({ at, reason: `the model refused${kind}${words}` });
}

function overflowed({ at, contextWindow: window, usage }: EndedAnswer): AgentError {
  const { inputTokens, outputTokens } = usage;
  const cause: ContextOverflow = {
    kind: 'context-overflow',
    ...(window === undefined ? {} : { window }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    isExact: inputTokens !== undefined,
  };
  const numbers = `${inputTokens ?? 'unknown'} tokens of input, ${outputTokens ?? 'unknown'} of output`;
  return modelContextOverflow({ at, reason: `the context window is full: ${numbers}`, cause });
}
