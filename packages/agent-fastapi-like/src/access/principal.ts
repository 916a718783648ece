import {
  AgentError,
  httpOriginRefused,
  isJsonObject,
  type Principal,
  principalRequired,
} from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import type { Authenticate } from './authenticate.ts';
import { isLoopback } from './loopback.ts';

/** Whom a host without `authenticate` acts as; the same as `app.local('local')`. */
export const LOCAL_PRINCIPAL: Principal = {
  scope: { tenantId: 'local' },
  subject: 'local',
  roles: [],
  permissions: [],
};

/** Asks `authenticate`, and fails closed: whatever is not a principal is `PRINCIPAL_REQUIRED`. */
export async function principalOf(
  request: Request,
  incoming: FastifyRequest,
  authenticate: Authenticate | undefined,
): Promise<Principal> {
  if (authenticate === undefined) return LOCAL_PRINCIPAL;
  let principal: unknown;
  try {
    principal = await authenticate(request, incoming);
  } catch (cause) {
    if (AgentError.is(cause) && cause.code === 'PRINCIPAL_REQUIRED') throw cause;
    throw principalRequired('`authenticate` threw');
  }
  if (principal === undefined) throw principalRequired('`authenticate` knows nobody by it');
  if (!isPrincipal(principal)) throw principalRequired('`authenticate` gave no tenant and subject');
  return principal;
}

/**
 * Without `authenticate` every request is the local user's, so a request must come from this machine on
 * purpose: a page in a browser that was lured here shows itself by its Host or Origin.
 */
export function refuseStrangers(headers: {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}): void {
  const host = hostnameOf(`http://${headers.host ?? ''}`);
  if (host === undefined || !isLoopback(host)) {
    throw httpOriginRefused('Host', headers.host ?? '');
  }
  if (headers.origin === undefined) return;
  const origin = hostnameOf(headers.origin);
  if (origin === undefined || !isLoopback(origin)) {
    throw httpOriginRefused('Origin', headers.origin);
  }
}

function hostnameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname;
  } catch {
    return undefined;
  }
}

function isPrincipal(value: unknown): value is Principal {
  return (
    isJsonObject(value) &&
    typeof value.subject === 'string' &&
    Array.isArray(value.roles) &&
    Array.isArray(value.permissions) &&
    isJsonObject(value.scope) &&
    typeof value.scope.tenantId === 'string' &&
    value.scope.tenantId !== ''
  );
}
