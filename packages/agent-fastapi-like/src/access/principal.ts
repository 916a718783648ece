import {
  AgentError,
  isJsonObject,
  ownerUnresolved,
  type Principal,
  principalRequired,
} from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';
import type { Authenticate } from './authenticate.ts';

/** Whom a host without `authenticate` acts as; the same as `app.local('local')`. */
export const LOCAL_PRINCIPAL: Principal = {
  scope: { tenantId: 'local' },
  subject: 'local',
  roles: [],
  permissions: [],
};

/**
 * Asks `authenticate`, and fails closed: nobody is `PRINCIPAL_REQUIRED`, and somebody of whom it is not said what is
 * theirs is `OWNER_UNRESOLVED`.
 */
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
    if (AgentError.is(cause) && REFUSALS.includes(cause.code)) throw cause;
    // The name only: the words of an error that was made from a credential may quote it.
    const type = cause instanceof Error ? cause.name : typeof cause;
    incoming.log.warn({ threw: type }, '`authenticate` threw');
    throw principalRequired('`authenticate` threw');
  }
  if (principal === undefined || principal === null)
    throw principalRequired('`authenticate` knows nobody by it');
  const missing = missingIn(principal);
  if (missing !== undefined) throw ownerUnresolved(missing);
  // Everything that it is made of has been looked at.
  return principal as Principal;
}

const REFUSALS: readonly string[] = ['PRINCIPAL_REQUIRED', 'OWNER_UNRESOLVED'];

/** Why a value is not a principal that owns anything. A `userId` that is there and empty would own the whole tenant. */
function missingIn(value: unknown): string | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['scope'])) return 'it has no `scope`';
  const { scope, subject, roles, permissions } = value;
  if (!isName(scope['tenantId'])) return 'its scope has no tenant';
  if ('userId' in scope && !isName(scope['userId'])) return 'its user has no id';
  if (!isName(subject)) return 'it has no subject';
  if (!isNames(roles)) return 'its roles are no list of names';
  return isNames(permissions) ? undefined : 'its permissions are no list of names';
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';
const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
