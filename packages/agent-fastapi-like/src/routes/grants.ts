import { json, type Route, route } from '../api/route.ts';
import { GrantPage } from '../schemas/record.ts';
import { GrantParams, GrantsQuery } from '../schemas/requests.ts';

const tags = ['waits'];

/** Approvals that hold for later calls. */
export const GRANT_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/grants',
    operation: { id: 'listGrants', summary: 'Approvals that are remembered', tags },
    query: GrantsQuery,
    answers: { 200: json(GrantPage, 'A page of grants.') },
    errors: ['RUN_NOT_DURABLE', 'STORE_UNREACHABLE'],
    handle: async ({ query }, { context, caller }) => context.gateway.grants(query, await caller()),
  }),
  route({
    method: 'DELETE',
    path: '/grants/:id',
    operation: { id: 'revokeGrant', summary: 'Take a remembered approval back', tags },
    params: GrantParams,
    answers: { 204: { description: 'The next call is asked about again.' } },
    errors: ['GRANT_NOT_FOUND', 'STORE_UNREACHABLE'],
    handle: async ({ params }, { reply, context, caller }) => {
      await context.gateway.revokeGrant(params.id, await caller());
      return reply.code(204).send();
    },
  }),
];
