import { type Envelope, runIdOf } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { callerOf, streamCallerOf } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import * as schemas from '../schemas/requests.ts';
import { sendEvents } from '../streams/event-reply.ts';
import { afterOf, limitOf } from './page.ts';

export function registerRuns(server: FastifyInstance, context: HostContext): void {
  const { gateway, settings } = context;
  server.get<{ Querystring: Static<typeof schemas.RunsQuery> }>(
    '/runs',
    { schema: { querystring: schemas.RunsQuery } },
    async (request, reply) => {
      const { limit, ...query } = request.query;
      const caller = await callerOf(request, reply, context);
      return gateway.list({ ...query, ...limitOf(limit) }, caller);
    },
  );
  server.get<{ Params: { runId: string } }>('/runs/:runId', async (request, reply) =>
    gateway.get(runIdOf(request.params.runId), await callerOf(request, reply, context)),
  );
  server.get<{ Params: { runId: string } }>('/runs/:runId/snapshot', async (request, reply) =>
    gateway.snapshot(runIdOf(request.params.runId), await callerOf(request, reply, context)),
  );
  server.get<{
    Params: { runId: string };
    Querystring: Static<typeof schemas.EventsQuery>;
    Headers: Static<typeof schemas.EventsHeaders>;
  }>(
    '/runs/:runId/events',
    { schema: { querystring: schemas.EventsQuery, headers: schemas.EventsHeaders } },
    async (request, reply) => {
      const caller = await streamCallerOf(request, reply, context);
      const { signal } = caller;
      // A client that reconnects repeats its first address: the header is the newer word.
      const after = request.headers['last-event-id'] ?? request.query.after;
      const runId = runIdOf(request.params.runId);
      const open = (from?: number): AsyncIterable<readonly Envelope[]> =>
        gateway.watch(runId, from === undefined ? afterOf(after) : { after: from }, caller);
      return sendEvents(reply, open, {
        signal,
        heartbeatMs: settings.limits.heartbeatMs,
        snapshot: () => gateway.snapshot(runId, caller),
      });
    },
  );
  server.get<{ Params: { runId: string }; Querystring: Static<typeof schemas.EvidenceQuery> }>(
    '/runs/:runId/evidence',
    { schema: { querystring: schemas.EvidenceQuery } },
    async (request, reply) => ({
      items: await gateway.evidence(
        runIdOf(request.params.runId),
        { ...afterOf(request.query.after), ...limitOf(request.query.limit) },
        await callerOf(request, reply, context),
      ),
    }),
  );
  server.post<{ Params: { runId: string }; Body: Static<typeof schemas.SignalBody> }>(
    '/runs/:runId/signals',
    { schema: { body: schemas.SignalBody } },
    async (request, reply) => {
      const caller = await callerOf(request, reply, context);
      const runId = runIdOf(request.params.runId);
      const { payload = {}, ...signal } = request.body;
      await gateway.signal(runId, { ...signal, payload }, caller);
      return reply.code(202).send({ runId });
    },
  );
  server.post<{ Params: { runId: string }; Body: Static<typeof schemas.CancelBody> }>(
    '/runs/:runId/cancel',
    { schema: { body: schemas.CancelBody } },
    async (request, reply) => {
      const caller = await callerOf(request, reply, context);
      const runId = runIdOf(request.params.runId);
      await gateway.cancel(runId, request.body?.reason, caller);
      return reply.code(202).send({ runId });
    },
  );
}
