import { waitIdOf } from '@hexagent/agent-core';
import { json, type Route, route } from '../api/route.ts';
import { WaitPage } from '../schemas/record.ts';
import { ResolutionBody, WaitParams, WaitsQuery } from '../schemas/requests.ts';
import { resolutionOf } from './resolution.ts';

const tags = ['waits'];

/** What runs wait for, and answering it. */
export const WAIT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/waits',
    operation: { id: 'listWaits', summary: 'What runs wait for, the oldest first', tags },
    query: WaitsQuery,
    answers: { 200: json(WaitPage, 'A page of waits.') },
    errors: ['RUN_NOT_DURABLE', 'STORE_UNREACHABLE'],
    handle: async ({ query }, { context, caller }) => context.gateway.waits(query, await caller()),
  }),
  route({
    method: 'POST',
    path: '/waits/:waitId',
    operation: {
      id: 'answerWait',
      summary: 'Answer a wait',
      description:
        '`approve`, `reject`, `modify` (with other arguments), `defer`; `result` of a client tool; `answer` to an input, an event, ' +
        'a sign-in. The first answer wins. `digest` ties the answer to what was seen.',
      tags,
    },
    params: WaitParams,
    body: ResolutionBody,
    answers: { 204: { description: 'It is answered; its run goes on.' } },
    errors: [
      'WAIT_NOT_FOUND',
      'WAIT_ALREADY_RESOLVED',
      'WAIT_DIGEST_MISMATCH',
      'WAIT_EXPIRED',
      'WAIT_DECISION_NOT_ALLOWED',
      'STORE_UNREACHABLE',
    ],
    handle: async ({ params, body }, { reply, context, caller }) => {
      await context.gateway.resolve(waitIdOf(params.waitId), resolutionOf(body), await caller());
      return reply.code(204).send();
    },
  }),
];
