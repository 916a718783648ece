import {
  type Caller,
  type Envelope,
  type RunGateway,
  type RunId,
  runIdOf,
  waitIdOf,
} from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { sendEvents, singly } from './event-reply.ts';
import type { OpenRequests } from './open-requests.ts';
import type { HostSettings } from './options.ts';
import { principalOf } from './principal.ts';
import { resolutionOf } from './resolution.ts';
import { runInputOf } from './run-input.ts';
import * as schemas from './schemas.ts';
import { webHead } from './web-request.ts';

export type RouteContext = {
  readonly gateway: RunGateway;
  readonly settings: HostSettings;
  readonly open: OpenRequests;
};

/** The doors of the gateway as routes. Nothing is decided here: who may see what is the gateway's. */
export function registerRoutes(server: FastifyInstance, context: RouteContext): void {
  server.get('/health', async () => ({ status: 'ok' }));
  registerAgents(server, context);
  registerRuns(server, context);
  registerWaits(server, context);
  registerGrants(server, context);
}

function registerAgents(server: FastifyInstance, context: RouteContext): void {
  const { gateway, settings, open } = context;
  server.get('/agents', async (request, reply) => ({
    items: gateway.agents(await callerOf(request, reply, context)),
  }));
  server.post<{
    Params: { agent: string };
    Body: Static<typeof schemas.StartBody>;
    Headers: Static<typeof schemas.StartHeaders>;
    Querystring: Static<typeof schemas.StartQuery>;
  }>(
    '/agents/:agent/runs',
    {
      schema: {
        body: schemas.StartBody,
        headers: schemas.StartHeaders,
        querystring: schemas.StartQuery,
      },
    },
    async (request, reply) => {
      const principal = await principalOf(webHead(request), settings.authenticate);
      const streams =
        request.query.stream === 'sse' ||
        (request.headers.accept ?? '').includes('text/event-stream');
      const signal = streams ? open.stream(reply) : open.request(reply);
      const caller = { principal, signal, ...keyOf(request.headers['idempotency-key']) };
      const { agent } = request.params;
      const handle = await gateway.start(agent, runInputOf(request.body), caller);
      // The run tells its failures in its events; a lost store is told by the next door that is asked.
      handle.result.catch((error: unknown) => request.log.error({ err: error, run: handle.runId }));
      if (streams) {
        reply.header('location', locationOf(handle.runId));
        const { heartbeatMs } = settings.limits;
        const events = (): AsyncIterable<readonly Envelope[]> => singly(handle.events({ signal }));
        return sendEvents(reply, events, { signal, heartbeatMs });
      }
      // Nothing of a run that is not kept can be asked for later: its request waits for what it comes to.
      if (!isDurable(gateway, agent, caller)) return handle.result;
      reply.header('location', locationOf(handle.runId));
      return reply.code(201).send({ runId: handle.runId });
    },
  );
}

function isDurable(gateway: RunGateway, agent: string, caller: Caller): boolean {
  return gateway.agents(caller).some(({ name, durable }) => name === agent && durable);
}

function locationOf(runId: RunId): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

function keyOf(key: string | undefined): { readonly requestKey?: string } {
  return key === undefined ? {} : { requestKey: key };
}

function registerRuns(server: FastifyInstance, context: RouteContext): void {
  const { gateway, settings, open: requests } = context;
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
      const principal = await principalOf(webHead(request), settings.authenticate);
      const signal = requests.stream(reply);
      // A client that reconnects repeats its first address: the header is the newer word.
      const after = request.headers['last-event-id'] ?? request.query.after;
      const caller = { principal, signal };
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

function registerWaits(server: FastifyInstance, context: RouteContext): void {
  const { gateway } = context;
  server.get<{ Querystring: Static<typeof schemas.WaitsQuery> }>(
    '/waits',
    { schema: { querystring: schemas.WaitsQuery } },
    async (request, reply) => {
      const { limit, ...query } = request.query;
      const caller = await callerOf(request, reply, context);
      return gateway.waits({ ...query, ...limitOf(limit) }, caller);
    },
  );
  server.post<{ Params: { waitId: string }; Body: Static<typeof schemas.ResolutionBody> }>(
    '/waits/:waitId',
    { schema: { body: schemas.ResolutionBody } },
    async (request, reply) => {
      const caller = await callerOf(request, reply, context);
      await gateway.resolve(waitIdOf(request.params.waitId), resolutionOf(request.body), caller);
      return reply.code(204).send();
    },
  );
}

function registerGrants(server: FastifyInstance, context: RouteContext): void {
  const { gateway } = context;
  server.get<{ Querystring: Static<typeof schemas.GrantsQuery> }>(
    '/grants',
    { schema: { querystring: schemas.GrantsQuery } },
    async (request, reply) => {
      const { limit, ...query } = request.query;
      const caller = await callerOf(request, reply, context);
      return gateway.grants({ ...query, ...limitOf(limit) }, caller);
    },
  );
  server.delete<{ Params: { id: string } }>('/grants/:id', async (request, reply) => {
    await gateway.revokeGrant(request.params.id, await callerOf(request, reply, context));
    return reply.code(204).send();
  });
}

async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { settings, open }: RouteContext,
): Promise<Caller> {
  const principal = await principalOf(webHead(request), settings.authenticate);
  return { principal, signal: open.request(reply) };
}

/** The schema has let digits only pass. */
function limitOf(digits: string | undefined): { readonly limit?: number } {
  return digits === undefined ? {} : { limit: Number(digits) };
}

function afterOf(digits: string | undefined): { readonly after?: number } {
  return digits === undefined ? {} : { after: Number(digits) };
}
