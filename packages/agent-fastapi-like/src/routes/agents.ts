import { agentUnknown, type Caller, type RunGateway } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { json, type Route, route } from '../api/route.ts';
import { AgentParams, StartBody, StartHeaders, StartQuery } from '../schemas/requests.ts';
import { AgentDescription } from '../schemas/run.ts';
import { beginUnder } from '../streams/on-disconnect.ts';
import { answerBegun, BEGUN_ANSWERS } from './begun-run.ts';
import { runInputOf } from './run-input.ts';

const tags = ['agents'];

/** What there is to start, and starting it. */
export const AGENT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/agents',
    operation: { id: 'listAgents', summary: 'What there is to start', tags },
    answers: { 200: json(Type.Object({ items: Type.Array(AgentDescription) }), 'Every agent.') },
    handle: async (_input, { context, caller }) => ({
      items: context.gateway.agents(await caller()),
    }),
  }),
  route({
    method: 'GET',
    path: '/agents/:agent',
    operation: { id: 'getAgent', summary: 'One agent', tags },
    params: AgentParams,
    answers: { 200: json(AgentDescription, 'The agent.') },
    errors: ['AGENT_UNKNOWN'],
    handle: async ({ params }, { context, caller }) => {
      const agents = context.gateway.agents(await caller());
      const agent = agents.find(({ name }) => name === params.agent);
      if (agent === undefined)
        throw agentUnknown(
          params.agent,
          agents.map(({ name }) => name),
        );
      return agent;
    },
  }),
  route({
    method: 'POST',
    path: '/agents/:agent/runs',
    operation: {
      id: 'startRun',
      summary: 'Start a run',
      description:
        'Answers when the run ends (200) or pauses (202), or streams its events with `Accept: text/event-stream`. A run of a durable ' +
        'agent goes on when its client leaves; one of a stateless agent ends, unless `onDisconnect` says otherwise.',
      tags,
    },
    params: AgentParams,
    query: StartQuery,
    headers: StartHeaders,
    body: StartBody,
    answers: BEGUN_ANSWERS,
    errors: [
      'AGENT_UNKNOWN',
      'CONVERSATION_BUSY',
      'CONVERSATION_NOT_FOUND',
      'RUN_NOT_DURABLE',
      'MODEL_SELECTION_REFUSED',
      'STORE_UNREACHABLE',
    ],
    handle: ({ params, query, headers, body }, served) => {
      const { gateway } = served.context;
      const { clientRunId, ...input } = body;
      return answerBegun(
        served,
        { headers, query, clientRunId },
        {
          begin: (caller) =>
            beginUnder(
              {
                gateway,
                caller,
                agent: params.agent,
                policy: query.onDisconnect ?? served.context.settings.onDisconnect,
                log: served.request.log,
              },
              (by) => gateway.start(params.agent, runInputOf(input), by),
            ),
          isKept: (caller) => isDurable(gateway, params.agent, caller),
        },
      );
    },
  }),
];

function isDurable(gateway: RunGateway, agent: string, caller: Caller): boolean {
  return gateway.agents(caller).some(({ name, durable }) => name === agent && durable);
}
