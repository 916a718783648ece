import type { AgentModel, ModelSelection, Stop } from '@hexagent/agent-core';
import {
  isJsonObject,
  modelRequestInvalid,
  modelResponseInvalid,
  parseJson,
} from '@hexagent/agent-core/adapter';
import { answerBatches, type OpenAnswer, openAnswer } from './chat-answer.ts';
import { chatRequests } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import type { Exit } from './exit.ts';
import { serverConnection } from './server-connection.ts';
import { noModelServed, servedModels } from './server-models.ts';
import { settingsOf, type VllmOptions } from './vllm-options.ts';

/** A model of a server that can be asked what it has. */
export interface VllmModel extends AgentModel {
  /**
   * Asks the server for its models, so that `capabilities` knows the context window. Happens by
   * itself where no model is named.
   */
  discover(stop: Stop): Promise<void>;
  /** Closes idle connections; running streams go on. */
  close(): void;
}

/**
 * The chat-completions API of one server as an `AgentModel`.
 *
 * Throws `INPUT_INVALID` with every problem of the options; connects to nothing before it is asked.
 */
export function vllmModel(options: VllmOptions): VllmModel {
  const settings = settingsOf(options);
  const { baseUrl, rootUrl, profile } = settings;
  const connection = serverConnection(settings);
  const requests = chatRequests(settings);
  const windows = new Map<string, number>();
  let firstServed: string | undefined;

  const discover = async ({ signal }: Stop): Promise<void> => {
    const url = `${baseUrl}/models`;
    const body = await connection.text({ method: 'GET', url, accept: 'application/json' }, signal);
    const models = servedModels(body, url);
    for (const { id, contextWindow } of models) {
      if (contextWindow !== undefined) windows.set(id, contextWindow);
    }
    firstServed = models[0]?.id;
  };

  const modelFor = async (selection: ModelSelection | undefined, stop: Stop): Promise<string> => {
    refuseForeign(selection, profile.name);
    const named = selection?.model ?? settings.model ?? firstServed;
    if (named !== undefined) return named;
    await discover(stop);
    if (firstServed === undefined) throw noModelServed(`${baseUrl}/models`);
    return firstServed;
  };

  const chatUrl = `${baseUrl}/chat/completions`;
  const accept = settings.stream ? 'text/event-stream, application/json' : 'application/json';

  return {
    id: profile.name,

    capabilities(selection) {
      const name = selection?.model ?? settings.model ?? firstServed;
      const contextWindow =
        settings.contextWindow ?? (name === undefined ? undefined : windows.get(name));
      return {
        ...(contextWindow === undefined ? {} : { contextWindow }),
        tools: true,
        reasoning: true,
        structuredOutput: profile.structuredOutput,
        inputModalities: settings.inputModalities,
      };
    },

    stream(request, { signal }) {
      const open = async (exit: Exit): Promise<OpenAnswer> => {
        const model = await modelFor(request.selection, { signal });
        const { body, toName } = requests.chat(request, model);
        const { requestId } = request;
        return connection.open(
          { method: 'POST', url: chatUrl, accept, body, requestId },
          {
            signal,
            exit,
            read: (response, watch) => {
              const context = connection.errorContext(chatUrl);
              const stream = chatStream({ ...context, model, provider: profile.name, toName });
              return openAnswer({ response, stream, watch }, context);
            },
          },
        );
      };
      const context = connection.errorContext(chatUrl);
      return { [Symbol.asyncIterator]: () => answerBatches(open, { signal, context }) };
    },

    ...(profile.countsTokens
      ? {
          async countTokens(request, stop) {
            const model = await modelFor(request.selection, stop);
            const url = `${rootUrl}/tokenize`;
            const body = requests.tokenize(request, model);
            const answer = await connection.text(
              { method: 'POST', url, accept: 'application/json', body },
              stop.signal,
            );
            const { count, window } = tokenCount(answer, url);
            if (window !== undefined) windows.set(model, window);
            return count;
          },
        }
      : {}),

    discover,
    close: () => connection.close(),
  };
}

/** What a request selects must be something that this adapter has. */
function refuseForeign(selection: ModelSelection | undefined, name: string): void {
  if (selection?.provider !== undefined && selection.provider !== name) {
    throw modelRequestInvalid({
      reason: `the run selects the provider "${selection.provider}", and this is "${name}"`,
      mend: `Select "${name}", or leave the provider out.`,
    });
  }
  if (selection?.profile !== undefined) {
    throw modelRequestInvalid({
      reason: `the run selects the profile "${selection.profile}", and this adapter has none to select`,
      mend: 'Select a model by its name.',
    });
  }
}

function tokenCount(
  answer: string,
  at: string,
): { readonly count: number; readonly window?: number } {
  const value = parseJson(answer);
  if (!isJsonObject(value) || typeof value['count'] !== 'number') {
    throw modelResponseInvalid({ at, reason: 'it did not answer with a count of tokens' });
  }
  const window = value['max_model_len'];
  return { count: value['count'], ...(typeof window === 'number' ? { window } : {}) };
}
