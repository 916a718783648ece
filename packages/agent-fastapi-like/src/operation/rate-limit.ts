import rateLimit from '@fastify/rate-limit';
import { httpRateLimited, type Principal } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import type { ScopeSettings } from '../settings.ts';
import { probes } from './probes.ts';

/** Counts what is no request of its own, as a message of a socket. Rejects with `HTTP_RATE_LIMITED`. */
export type Admit = (request: FastifyRequest, principal: Principal) => Promise<void>;

/** Callers that are remembered at a time: who has not asked for longest is forgotten first. */
const MOST_CALLERS = 20_000;

/**
 * Lets a caller ask so often: counted by who it is, and by address where nobody is known, so that guesses at a token are counted,
 * too. Answers say what is left (`ratelimit-limit`, `ratelimit-remaining`, `ratelimit-reset`); too many are 429 with `Retry-After`.
 */
export async function limitRate(
  scope: FastifyInstance,
  settings: ScopeSettings,
  onRefused: () => void,
): Promise<Admit> {
  const { requests, requestsMs } = settings.limits;
  if (requests === 0) return async () => undefined;
  // Whoever looks after the process asks as often as it likes.
  const isProbe = probes(scope, ['/healthz', '/readyz']);
  const speakers = new WeakMap<FastifyRequest, string>();
  const counting = {
    max: requests,
    timeWindow: requestsMs,
    cache: MOST_CALLERS,
    keyGenerator: (request: FastifyRequest) =>
      speakers.get(request) ?? keyOfRequest(request, settings),
  };
  await scope.register(rateLimit, { global: false, ...counting });
  // Said again: inside an application that limits its callers this makes a counter of the application's, with its numbers.
  const count = scope.createRateLimit(counting);
  const refuse = (ttl: number): never => {
    onRefused();
    throw httpRateLimited(requests, ttl);
  };
  // Before the hooks of a route: whoever is refused by those has asked as well.
  scope.addHook('onRequest', async (request, reply) => {
    if (isProbe(request)) return;
    const counted = await count(request);
    if (counted.isAllowed) return;
    reply.headers({
      'ratelimit-limit': counted.max,
      'ratelimit-remaining': counted.remaining,
      'ratelimit-reset': counted.ttlInSeconds,
    });
    if (counted.isExceeded) refuse(counted.ttl);
  });
  return async (request, principal) => {
    speakers.set(request, keyOf(principal));
    const counted = await count(request);
    if (!counted.isAllowed && counted.isExceeded) refuse(counted.ttl);
  };
}

async function keyOfRequest(request: FastifyRequest, settings: ScopeSettings): Promise<string> {
  const { config, schema } = request.routeOptions;
  const isHidden = (schema as { readonly hide?: boolean } | undefined)?.hide === true;
  const access = config.access ?? (isHidden ? 'public' : 'caller');
  if (request.is404 || access === 'public') return request.ip;
  // Asked once for a request: the route asks again and is given the same answer.
  return authenticateRequest(request, { settings }).then(keyOf, () => request.ip);
}

function keyOf({ scope, subject }: Principal): string {
  return JSON.stringify([scope.tenantId, scope.userId ?? null, subject]);
}
