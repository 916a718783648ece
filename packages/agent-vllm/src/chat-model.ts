import type { AgentModel, ModelRequest, ModelSelection, Stop } from '@hexagent/agent-core';
import {
  answerBatches,
  type Linked,
  modelRequestInvalid,
  type OpenAnswer,
} from '@hexagent/agent-core/adapter';
import { cacheSalts } from './cache-salt.ts';
import { openAnswer } from './chat-answer.ts';
import { type ChatRequest, chatRequests } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { fullWindow } from './full-window.ts';
import { remedyFor } from './output-room.ts';
import { servedCatalogue } from './served-catalogue.ts';
import { serverConnection } from './server-connection.ts';
import { withRequestId } from './server-error.ts';
import { serverLoad } from './server-load.ts';
import type { Settings } from './settings.ts';
import { tokenCounter } from './token-count.ts';

/** How long the load of a server may take to be told; a router has other servers to ask. */
const LOAD_MS = 2000;

/** A model whose every call is one try, beside what is asked of its server. */
export interface ChatModel extends AgentModel {
  discover(stop: Stop): Promise<void>;
  close(): void;
}

/** The chat-completions API of one server. Connects to nothing before it is asked. */
export function chatModel(settings: Settings): ChatModel {
  const { baseUrl, rootUrl, profile } = settings;
  const connection = serverConnection(settings);
  const requests = chatRequests(settings);
  const catalogue = servedCatalogue(connection, settings);
  const counter = tokenCounter(connection, settings);
  const saltOf = settings.cacheSalt && cacheSalts(settings.cacheSalt.secret);
  const chatUrl = `${baseUrl}/chat/completions`;
  const accept = settings.stream ? 'text/event-stream, application/json' : 'application/json';

  const counted = async (written: ChatRequest, model: string, { signal }: Stop) => {
    if (counter === undefined) throw new TypeError('this profile counts no tokens');
    const found = await counter(written.countBody(model), signal);
    catalogue.learn(model, found.window);
    return found;
  };

  const answer = async (
    request: ModelRequest,
    written: ChatRequest,
    link: Linked,
  ): Promise<OpenAnswer> => {
    const { signal } = link;
    const attempt = async (call: {
      readonly model: string;
      readonly maxTokens?: number;
    }): Promise<OpenAnswer> => {
      const cacheSalt = await saltOf?.(request.tenantId);
      const body = written.body({ ...call, cacheSalt });
      return connection.open(
        { method: 'POST', url: chatUrl, accept, body, requestId: request.requestId },
        {
          signal,
          read: (response, watch) => {
            const context = withRequestId(connection.errorContext(chatUrl), response.headers);
            const stream = chatStream({
              ...context,
              model: call.model,
              provider: profile.name,
              callState: profile.callState,
              toName: written.toName,
              lengthError: (usage) =>
                fullWindow(usage, {
                  at: context.at,
                  window: catalogue.window({ model: call.model }),
                  maxTokens: call.maxTokens ?? request.sampling?.maxTokens,
                }),
            });
            return openAnswer({ response, stream, watch }, context);
          },
        },
      );
    };
    const model = await catalogue.modelFor(request.selection, link);
    try {
      return await attempt({ model });
    } catch (error) {
      link.throwIfAborted();
      const remedy = await remedyFor(error, {
        maxTokens: request.sampling?.maxTokens,
        minOutputTokens: settings.minOutputTokens,
        count: counter === undefined ? undefined : () => counted(written, model, link),
      });
      if (remedy.kind === 'error') throw remedy.error;
      return attempt({ model, maxTokens: remedy.maxTokens });
    }
  };

  const { metrics } = profile;
  return {
    id: profile.name,
    address: baseUrl,
    selectionProblem: (selection) => foreign(selection, profile.name)?.reason,

    capabilities(selection) {
      const contextWindow = catalogue.window(selection);
      const name = catalogue.nameOf(selection);
      return {
        ...(name === undefined ? {} : { model: name }),
        ...(contextWindow === undefined ? {} : { contextWindow }),
        tools: true,
        reasoning: true,
        structuredOutput: profile.structuredOutput,
        inputModalities: settings.inputModalities,
      };
    },

    stream: (request, stop) => ({
      [Symbol.asyncIterator]: () => {
        const open = async (link: Linked): Promise<OpenAnswer> =>
          answer(request, prepared(request), link);
        return answerBatches(open, stop);
      },
    }),

    ...(counter === undefined
      ? {}
      : {
          async countTokens(request, stop) {
            const written = prepared(request);
            const model = await catalogue.modelFor(request.selection, stop);
            return (await counted(written, model, stop)).count;
          },
        }),

    ...(metrics === 'none'
      ? {}
      : {
          async load({ signal }) {
            const url = `${rootUrl}/metrics`;
            const limits = { connectMs: LOAD_MS, firstByteMs: LOAD_MS, idleMs: LOAD_MS };
            const call = { method: 'GET', url, accept: 'text/plain' } as const;
            return serverLoad(await connection.text(call, signal, limits), metrics, url);
          },
        }),

    discover: (stop) => catalogue.discover(stop),
    close: () => connection.close(),
  };

  /** Refuses, before anything is sent, what this server is not or cannot be told. */
  function prepared(request: ModelRequest): ChatRequest {
    const problem = request.selection && foreign(request.selection, profile.name);
    if (problem !== undefined) throw modelRequestInvalid(problem);
    return requests(request);
  }
}

/** What a request selects must be something that this adapter has. */
function foreign(
  selection: ModelSelection,
  name: string,
): { readonly reason: string; readonly mend: string } | undefined {
  if (selection.provider !== undefined && selection.provider !== name) {
    return {
      reason: `the run selects the provider "${selection.provider}", and this is "${name}"`,
      mend: `Select "${name}", or leave the provider out.`,
    };
  }
  if (selection.profile !== undefined) {
    return {
      reason: `the run selects the profile "${selection.profile}", and this adapter has none to select`,
      mend: 'Select a model by its name.',
    };
  }
  return undefined;
}
