import { json, type Route, route } from '../api/route.ts';
import { RunReference } from '../schemas/record.ts';
import { CancelBody, RunParams, SignalBody } from '../schemas/requests.ts';

const tags = ['runs'];

/** Saying something to a run, and ending it. */
export const STEERING_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/runs/:runId/signals',
    operation: { id: 'signalRun', summary: 'Send a run something', tags },
    params: RunParams,
    body: SignalBody,
    answers: { 202: json(RunReference, 'It will be read at the next boundary.') },
    errors: ['RUN_NOT_FOUND', 'SIGNAL_NOT_ACCEPTED', 'RUN_ENDED', 'STORE_UNREACHABLE'],
    handle: async ({ params: { runId }, body }, { reply, context, caller }) => {
      const { payload = {}, ...signal } = body;
      await context.gateway.signal(runId, { ...signal, payload }, await caller());
      return reply.code(202).send({ runId });
    },
  }),
  route({
    method: 'POST',
    path: '/runs/:runId/cancel',
    operation: { id: 'cancelRun', summary: 'End a run', tags },
    params: RunParams,
    body: CancelBody,
    answers: { 202: json(RunReference, 'It will stop at the next boundary.') },
    errors: ['RUN_NOT_FOUND', 'RUN_ENDED', 'STORE_UNREACHABLE'],
    handle: async ({ params: { runId }, body }, { reply, context, caller }) => {
      await context.gateway.cancel(runId, body?.reason, await caller());
      return reply.code(202).send({ runId });
    },
  }),
];
