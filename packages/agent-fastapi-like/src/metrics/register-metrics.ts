import { httpRouteUnknown } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import type { HostContext } from '../host-context.ts';

/** The permission of a principal that may read what a host counts. */
export const METRICS_PERMISSION = 'metrics:read';

/** Counts what the routes of a scope do, and serves `GET /metrics`. Called before the routes are added. */
export function registerMetrics(scope: FastifyInstance, context: HostContext): void {
  const { metrics } = context.operation;
  const { metrics: access } = context.settings;
  scope.addHook('onResponse', async (request, reply) => {
    metrics.answered({
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    });
  });
  if (access === 'none') return;
  scope.route({
    method: 'GET',
    url: '/metrics',
    exposeHeadRoute: false,
    config: { access: access === 'public' ? 'public' : 'caller' },
    onRequest: async (request) => {
      if (access === 'permitted') await checkPermission(request, context);
    },
    handler: async (_request, reply) => {
      const text = await metrics.registry.metrics();
      return reply
        .type(metrics.registry.contentType)
        .serializer((body: string) => body)
        .send(text);
    },
  });
}

/** What a host counts tells of all its callers. Who may not see it is told that there is nothing. */
async function checkPermission(request: FastifyRequest, context: HostContext): Promise<void> {
  const { permissions } = await authenticateRequest(request, context);
  if (!permissions.includes(METRICS_PERMISSION)) throw httpRouteUnknown('GET', '/metrics');
}

/** The pattern of a route, never a path: a label for each path that somebody thinks of would have no end. */
function routeOf({ is404, routeOptions }: FastifyRequest): string {
  return is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
}
