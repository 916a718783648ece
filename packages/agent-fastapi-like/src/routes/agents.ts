import type { Caller, Envelope, RunGateway, RunId } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { callerOf, streamCallerOf } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import * as schemas from '../schemas/requests.ts';
import { sendEvents, singly } from '../streams/event-reply.ts';
import { runInputOf } from './run-input.ts';

export function registerAgents(server: FastifyInstance, context: HostContext): void {
  const { gateway, settings } = context;
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
      const streams =
        request.query.stream === 'sse' ||
        (request.headers.accept ?? '').includes('text/event-stream');
      const asking = await (streams ? streamCallerOf : callerOf)(request, reply, context);
      const { signal } = asking;
      const caller = { ...asking, ...keyOf(request.headers['idempotency-key']) };
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
