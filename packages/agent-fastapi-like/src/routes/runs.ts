import type { Envelope } from '@hexagent/agent-core';
import { json, type Route, route } from '../api/route.ts';
import { EVENT_STREAM } from '../schemas/event-stream.ts';
import { CallList, RunPage, Snapshot } from '../schemas/record.ts';
import {
  EventsHeaders,
  EventsQuery,
  ForkBody,
  RunParams,
  RunsQuery,
  StartHeaders,
} from '../schemas/requests.ts';
import { Run } from '../schemas/run.ts';
import { sendEvents } from '../streams/event-reply.ts';
import { answerBegun, BEGUN_ANSWERS } from './begun-run.ts';

const tags = ['runs'];

/** Reading runs, and going on from one. */
export const RUN_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/runs',
    operation: { id: 'listRuns', summary: 'Runs, the last changed first', tags },
    query: RunsQuery,
    answers: { 200: json(RunPage, 'A page of runs.') },
    errors: ['RUN_NOT_DURABLE', 'STORE_UNREACHABLE'],
    handle: async ({ query }, { context, caller }) => context.gateway.list(query, await caller()),
  }),
  route({
    method: 'GET',
    path: '/runs/:runId',
    operation: { id: 'getRun', summary: 'One run', tags },
    params: RunParams,
    answers: { 200: json(Run, 'The run.') },
    errors: ['RUN_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params }, { context, caller }) =>
      context.gateway.get(params.runId, await caller()),
  }),
  route({
    method: 'GET',
    path: '/runs/:runId/events',
    operation: {
      id: 'watchRun',
      summary: 'The events of a run, to its pause or its end',
      description:
        'Server-sent events: `id` is the number of an event, `data` an `Envelope`. Quote the last number in `Last-Event-ID` or `after` to ' +
        'go on behind it. More: `docs/events`.',
      tags,
    },
    params: RunParams,
    query: EventsQuery,
    headers: EventsHeaders,
    answers: {
      200: { description: 'The events.', content: EVENT_STREAM },
      204: { description: 'Nothing is left to come.' },
    },
    errors: ['RUN_NOT_FOUND', 'CURSOR_INVALID', 'STORE_UNREACHABLE'],
    handle: async ({ params, query, headers }, { reply, context, streamCaller }) => {
      const { gateway, operation } = context;
      const { runId } = params;
      const caller = await streamCaller();
      const { signal } = caller;
      // A client that reconnects repeats its first address: the header is the newer word.
      const after = headers['last-event-id'] ?? query.after;
      const open = (from = after): AsyncIterable<readonly Envelope[]> =>
        gateway.watch(runId, from === undefined ? {} : { after: from }, caller);
      return sendEvents(reply, open, {
        signal,
        streams: operation.streams,
        snapshot: () => gateway.snapshot(runId, caller),
      });
    },
  }),
  route({
    method: 'GET',
    path: '/runs/:runId/snapshot',
    operation: { id: 'getSnapshot', summary: 'A run with all that is kept of it', tags },
    params: RunParams,
    answers: { 200: json(Snapshot, 'The run as it is now.') },
    errors: ['RUN_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params }, { context, caller }) =>
      context.gateway.snapshot(params.runId, await caller()),
  }),
  route({
    method: 'GET',
    path: '/runs/:runId/calls',
    operation: { id: 'listCalls', summary: 'The effect ledger of a run', tags },
    params: RunParams,
    answers: { 200: json(CallList, 'Every call, in the order in which it was asked for.') },
    errors: ['RUN_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params }, { context, caller }) => ({
      items: await context.gateway.calls(params.runId, await caller()),
    }),
  }),
  route({
    method: 'POST',
    path: '/runs/:runId/fork',
    operation: {
      id: 'forkRun',
      summary: 'Start a new run from a settled step of this one',
      description: 'Answers as a start does. The run that is forked is only read.',
      tags,
    },
    params: RunParams,
    headers: StartHeaders,
    body: ForkBody,
    answers: BEGUN_ANSWERS,
    errors: [
      'RUN_NOT_FOUND',
      'AGENT_UNKNOWN',
      'FORK_NOT_SETTLED',
      'FORK_STATE_UNKNOWN',
      'STORE_UNREACHABLE',
    ],
    handle: ({ params, headers, body }, served) =>
      answerBegun(
        served,
        { headers },
        {
          begin: (caller) => served.context.gateway.fork(params.runId, body, caller),
          isKept: () => true,
        },
      ),
  }),
];
