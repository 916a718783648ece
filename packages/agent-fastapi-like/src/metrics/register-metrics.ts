import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HostMetrics } from './host-metrics.ts';

/** Counts what the routes of a scope do. Called before the routes are added. */
export function registerMetrics(scope: FastifyInstance, metrics: HostMetrics): void {
  scope.addHook('onResponse', async (request, reply) => {
    metrics.answered({
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
  });
}

/** The pattern of a route, never a path: a label for each path that somebody thinks of would have no end. */
function routeOf({ is404, routeOptions }: FastifyRequest): string {
  return is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
}
