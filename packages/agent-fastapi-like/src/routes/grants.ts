import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { callerOf } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import * as schemas from '../schemas/requests.ts';
import { limitOf } from './page.ts';

export function registerGrants(server: FastifyInstance, context: HostContext): void {
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
