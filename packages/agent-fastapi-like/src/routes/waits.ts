import { waitIdOf } from '@hexagent/agent-core';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import * as schemas from '../schemas/requests.ts';
import { limitOf } from './page.ts';
import { resolutionOf } from './resolution.ts';

export function registerWaits(server: FastifyInstance, context: HostContext): void {
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
