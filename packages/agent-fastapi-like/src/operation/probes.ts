import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Tells requests for one of these routes of the host, and for no other, wherever the scope is served. */
export function probes(
  scope: FastifyInstance,
  paths: readonly string[],
): (request: FastifyRequest) => boolean {
  const prefix = scope.prefix === '/' ? '' : scope.prefix;
  const urls = new Set(paths.map((path) => `${prefix}${path}`));
  return ({ routeOptions: { url = '' } }) => urls.has(url);
}
