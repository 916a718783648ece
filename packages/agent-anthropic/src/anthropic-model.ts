import type { AgentModel, ModelSelection } from '@hexagent/agent-core';
import {
  isJsonObject,
  linked,
  modelRequestInvalid,
  modelResponseInvalid,
  withRetries,
} from '@hexagent/agent-core/adapter';
import { answerBatches } from './answer-batches.ts';
import type { AnthropicOptions } from './anthropic-options.ts';
import { callLimits } from './call-limits.ts';
import { messageRequests } from './message-request.ts';
import { messageStream } from './message-stream.ts';
import { messagesClient } from './messages-client.ts';
import { type Settings, settingsOf } from './settings.ts';
import { withTotalLimit } from './total-limit.ts';

/**
 * Anthropic's Messages API as an `AgentModel`, or another server that speaks it.
 *
 * Throws `INPUT_INVALID` with every problem of the options; connects to nothing before it is asked.
 */
export function anthropicModel(options: AnthropicOptions): AgentModel {
  const settings = settingsOf(options);
  const { retries, clock, random, timeouts, baseUrl } = settings;
  const retried = withRetries(oneTry(settings), { retries, clock, random });
  return withTotalLimit(retried, {
    totalMs: timeouts.totalMs,
    clock,
    at: `${baseUrl}/v1/messages`,
  });
}

/** The model without another try. */
function oneTry(settings: Settings): AgentModel {
  const { id, timeouts, clock, contextWindow } = settings;
  const client = messagesClient(settings);
  const requests = messageRequests(settings);

  const selectionProblem = (selection: ModelSelection): string | undefined => {
    const { provider, profile } = selection;
    if (provider !== undefined && provider !== id) {
      return `it selects the provider "${provider}", and this is "${id}"`;
    }
    if (profile === undefined) return undefined;
    return `it selects the profile "${profile}", and "${id}" has none to select`;
  };
  const modelFor = (selection: ModelSelection = {}): string => {
    const problem = selectionProblem(selection);
    if (problem === undefined) return selection.model ?? settings.model;
    throw modelRequestInvalid({
      reason: `the run's selection is not for this model: ${problem}`,
      mend: `Select a model of "${id}" by its name, or leave the selection out.`,
    });
  };

  return {
    id,
    selectionProblem,
    capabilities: () => ({
      ...(contextWindow === undefined ? {} : { contextWindow }),
      tools: true,
      reasoning: true,
      structuredOutput: settings.structuredOutput,
      inputModalities: settings.inputModalities,
    }),

    stream(request, { signal }) {
      const { requestId, selection } = request;
      const context = client.errorContext('messages');
      const batches = () =>
        answerBatches(
          async (call) => {
            const model = modelFor(selection);
            const { body, toName } = requests.message(request, model);
            const limits = callLimits(call, { timeouts, clock, at: context.at });
            try {
              const response = await client.open(body, { call, requestId });
              const provider = id;
              const stream = messageStream({ ...context, model, provider, contextWindow, toName });
              return { response, stream, limits };
            } catch (error) {
              limits.release();
              throw error;
            }
          },
          { signal, context },
        );
      return { [Symbol.asyncIterator]: batches };
    },

    async countTokens(request, { signal }) {
      const { requestId, selection } = request;
      const body = requests.count(request, modelFor(selection));
      const { at } = client.errorContext('count_tokens');
      const call = linked(signal);
      const limits = callLimits(call, { timeouts, clock, at });
      try {
        signal.throwIfAborted();
        return countIn(await client.count(body, { call, requestId }), at);
      } finally {
        limits.release();
        call.release();
      }
    },
  };
}

function countIn(answer: unknown, at: string): number {
  if (isJsonObject(answer) && typeof answer['input_tokens'] === 'number') {
    return answer['input_tokens'];
  }
  throw modelResponseInvalid({ at, reason: 'it did not answer with a count of tokens' });
}
