import type { Principal } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import type { ScopeSettings } from '../settings.ts';
import { webHead } from '../web/web-request.ts';
import { principalOf } from './principal.ts';

/** Who asks, for each request that was let in: `authenticate` is called once for each. */
const known = new WeakMap<FastifyRequest, Promise<Principal>>();

/** Rejects with `PRINCIPAL_REQUIRED` or `OWNER_UNRESOLVED` when nobody can be told. */
export function authenticateRequest(
  request: FastifyRequest,
  { settings }: { readonly settings: ScopeSettings },
): Promise<Principal> {
  const asked = known.get(request);
  if (asked !== undefined) return asked;
  const principal = principalOf(webHead(request), request, settings.authenticate);
  known.set(request, principal);
  return principal;
}
