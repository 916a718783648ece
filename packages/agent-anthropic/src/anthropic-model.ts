import type { AgentModel, ModelSelection } from '@hexagent/agent-core';
import {
  type AnswerLimits,
  answerBatches,
  answerLimits,
  answerText,
  isJsonObject,
  type Linked,
  linked,
  modelRequestInvalid,
  modelResponseInvalid,
  type OpenAnswer,
  withRetries,
  withTotalLimit,
} from '@hexagent/agent-core/adapter';
import type { AnthropicOptions } from './anthropic-options.ts';
import { messageRequests } from './message-request.ts';
import { messageStream } from './message-stream.ts';
import { messagesClient } from './messages-client.ts';
import { openAnswer } from './open-answer.ts';
import { brokenAnswer, withRequestId } from './server-error.ts';
import { type Settings, settingsOf } from './settings.ts';

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

  const limitsOver = (link: Linked, at: string): AnswerLimits =>
    answerLimits({ timeouts, clock, at, ring: (error) => link.abort(error) });
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
    address: settings.baseUrl,
    selectionProblem,
    capabilities: (selection) => ({
      model: selection?.model ?? settings.model,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      tools: true,
      reasoning: true,
      structuredOutput: settings.structuredOutput,
      inputModalities: settings.inputModalities,
    }),

    stream(request, stop) {
      const { requestId, selection } = request;
      const context = client.errorContext('messages');
      const open = async (link: Linked): Promise<OpenAnswer> => {
        const model = modelFor(selection);
        const { body, toName } = requests.message(request, model);
        const limits = limitsOver(link, context.at);
        try {
          const response = await client.open(body, { call: link, requestId });
          const { headers } = response;
          const asked = withRequestId(context, headers);
          const broken = (error: unknown): Error => brokenAnswer(error, asked);
          const text = answerText(response.body, { link, limits, broken });
          const provider = id;
          const reader = messageStream({ ...asked, model, provider, contextWindow, toName });
          const type = headers.get('content-type') ?? '';
          return await openAnswer({ text, reader, type }, asked);
        } catch (error) {
          limits.release();
          throw error;
        }
      };
      return { [Symbol.asyncIterator]: () => answerBatches(open, stop) };
    },

    async countTokens(request, { signal }) {
      const { requestId, selection } = request;
      const body = requests.count(request, modelFor(selection));
      const { at } = client.errorContext('count_tokens');
      const call = linked(signal);
      const limits = limitsOver(call, at);
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
