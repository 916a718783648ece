import type { AgentModel, ModelRequest, ModelSelection } from '@hexagent/agent-core';
import {
  answerBatches,
  isJsonObject,
  type Linked,
  linked,
  modelRequestInvalid,
  modelResponseInvalid,
  type OpenAnswer,
  withRetries,
  withTotalLimit,
} from '@hexagent/agent-core/adapter';
import type { ReaderContext } from './answer-reader.ts';
import {
  type ApiAnswer,
  type ApiCall,
  type ApiConnection,
  apiConnection,
} from './api-connection.ts';
import { chatReader } from './chat/chat-reader.ts';
import { chatRequest } from './chat/chat-request.ts';
import { openAnswer } from './open-answer.ts';
import { type OpenAiOptions, type Settings, settingsOf } from './openai-options.ts';
import { responsesReader } from './responses/responses-reader.ts';
import { responsesRequest } from './responses/responses-request.ts';
import { type WireOutput, type WireSchemas, type WireTools, wireSchemas } from './wire-schemas.ts';

/**
 * A model of OpenAI as an `AgentModel`, over the Responses API or chat completions.
 *
 * Throws `INPUT_INVALID` with every problem of the options; connects to nothing before it is asked. Tries again before
 * the first event, as the option `retries` says.
 */
export function openaiModel(options: OpenAiOptions): AgentModel {
  const settings = settingsOf(options);
  const { retries, clock, random, timeouts, baseUrl } = settings;
  const model = withRetries(oneTry(settings), { retries, clock, random });
  return withTotalLimit(model, { totalMs: timeouts.totalMs, clock, at: baseUrl });
}

/** A request in the form of its wire. */
type Written = {
  readonly model: string;
  readonly wire: WireTools;
  readonly output: WireOutput | undefined;
  readonly settings: Settings;
};

/** The model without a second try. */
function oneTry(settings: Settings): AgentModel {
  const connection = apiConnection(settings);
  const schemas = wireSchemas(settings.strict);
  const { id, baseUrl, contextWindow, inputModalities } = settings;
  const isChat = settings.api === 'chat';
  return {
    id,
    address: baseUrl,
    capabilities: (selection) => ({
      model: selection?.model ?? settings.model,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      tools: true,
      reasoning: true,
      structuredOutput: 'with-tools',
      inputModalities,
    }),
    selectionProblem: (selection) => selectionProblem(selection, id),
    stream: (request, stop) => ({
      [Symbol.asyncIterator]: () => {
        const open = (link: Linked): Promise<OpenAnswer> =>
          opened(connection, request, { link, written: written(request, { settings, schemas }) });
        return answerBatches(open, stop);
      },
    }),
    ...(isChat
      ? {}
      : {
          countTokens: (request, { signal }) =>
            counted(connection, written(request, { settings, schemas }), { request, signal }),
        }),
  };
}

/** Why a selection is none of this adapter's. */
function selectionProblem({ provider, profile }: ModelSelection, id: string): string | undefined {
  if (provider !== undefined && provider !== id) {
    return `the provider "${provider}" is selected, and this is "${id}"`;
  }
  return profile === undefined
    ? undefined
    : `the profile "${profile}" is selected, and this adapter has none to select`;
}

function written(
  request: ModelRequest,
  { settings, schemas }: { readonly settings: Settings; readonly schemas: WireSchemas },
): Written {
  const { selection, tools, output } = request;
  const problem = selection && selectionProblem(selection, settings.id);
  if (problem !== undefined) {
    throw modelRequestInvalid({
      reason: problem,
      mend: `Select "${settings.id}", and a model by name.`,
    });
  }
  return {
    model: selection?.model ?? settings.model,
    wire: schemas.tools(tools),
    output: output === undefined ? undefined : schemas.output(output),
    settings,
  };
}

async function opened(
  connection: ApiConnection,
  request: ModelRequest,
  { link, written }: { readonly link: Linked; readonly written: Written },
): Promise<OpenAnswer> {
  const { model, wire, output, settings } = written;
  const isChat = settings.api === 'chat';
  const call: ApiCall = isChat ? chatCall(request, written) : responsesCall(request, written);
  const answer: ApiAnswer = await connection.open(call, link);
  const context: ReaderContext = {
    ...answer.context,
    model,
    provider: settings.id,
    toName: wire.names.toName,
    restores: wire.restores,
    ...(output?.restore === undefined ? {} : { restoreOutput: output.restore }),
  };
  return openAnswer(answer, isChat ? chatReader(context) : responsesReader(context));
}

function responsesCall(request: ModelRequest, written: Written): ApiCall {
  const body = responsesRequest(request, written.model, written);
  return {
    path: '/responses',
    requestId: request.requestId,
    send: (client, options) => client.responses.create(body, options),
  };
}

function chatCall(request: ModelRequest, written: Written): ApiCall {
  const body = chatRequest(request, written.model, written);
  return {
    path: '/chat/completions',
    requestId: request.requestId,
    send: (client, options) => client.chat.completions.create(body, options),
  };
}

/** Asks the provider how long a request is. */
async function counted(
  connection: ApiConnection,
  written: Written,
  { request, signal }: { readonly request: ModelRequest; readonly signal: AbortSignal },
): Promise<number> {
  const body = responsesRequest(request, written.model, written);
  const { model, input = null, instructions, tools, tool_choice, text, reasoning } = body;
  const link = linked(signal);
  try {
    const { value, context } = await connection.json(
      {
        path: '/responses/input_tokens',
        send: (client, options) =>
          client.responses.inputTokens.count(
            {
              model: model ?? null,
              input,
              ...(instructions === undefined ? {} : { instructions }),
              ...(tools === undefined ? {} : { tools }),
              ...(tool_choice === undefined ? {} : { tool_choice }),
              ...(text === undefined ? {} : { text }),
              ...(reasoning === undefined ? {} : { reasoning }),
            },
            options,
          ),
      },
      link,
    );
    const count = isJsonObject(value) ? value['input_tokens'] : undefined;
    if (typeof count === 'number') return count;
    throw modelResponseInvalid({
      at: context.at,
      reason: 'it did not answer with a count of tokens',
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    link.release();
  }
}
