import type { Principal } from '@hexagent/agent-core';
import type { FastifyRequest } from 'fastify';

/**
 * Who asks. Undefined, or anything thrown, is a caller that cannot be told: the request is refused with 401. What is given and has
 * no owner in it (no tenant, no subject, an empty user) is refused with 403. The request has no body here: the owner of a run never
 * comes from it.
 *
 * @param incoming what hooks of an application around the host have put on its request
 */
export type Authenticate = (
  request: Request,
  incoming: FastifyRequest,
) => Principal | undefined | Promise<Principal | undefined>;
