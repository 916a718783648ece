import { AgentCard } from '@a2a-js/sdk';
import {
  type HttpMount,
  httpRouteUnknown,
  isJsonObject,
  type JsonObject,
} from '@hexagent/agent-core';
import { agentCard } from './agent-card.ts';
import { cardAnswer } from './card-answer.ts';
import { answerJsonRpc } from './json-rpc.ts';
import { type A2aOptions, CARD_PATH } from './options.ts';
import { taskHandler } from './task-handler.ts';

/** The A2A server of one agent: its card, for everybody, and JSON-RPC, for whom the host knows. */
export function a2aMount(options: A2aOptions): HttpMount {
  const { agent, baseUrl, basePath = '/a2a' } = options;
  const cardAt = (origin: string): AgentCard => agentCard(options, new URL(basePath, origin).href);
  return {
    basePath,
    paths: [CARD_PATH],
    describe: (): JsonObject => {
      const card = AgentCard.toJSON(cardAt(baseUrl ?? 'http://localhost'));
      return isJsonObject(card) ? { agent: agent.name, card } : { agent: agent.name };
    },
    handle: async (request, { gateway, authenticate, path, signal }) => {
      const card = cardAt(baseUrl ?? new URL(request.url).origin);
      if (path === CARD_PATH)
        return cardAnswer(request, card, { cacheable: baseUrl !== undefined });
      if (path !== '/') throw httpRouteUnknown(request.method, `${basePath}${path}`);
      if (request.method !== 'POST') {
        return new Response(null, { status: 405, headers: { allow: 'POST' } });
      }
      const caller = { principal: await authenticate(request), signal };
      const handler = taskHandler({ agent, card, gateway, caller });
      return answerJsonRpc(request, handler, card);
    },
  };
}
