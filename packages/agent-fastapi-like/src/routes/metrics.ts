import type { Principal } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { type Route, route } from '../api/route.ts';
import type { HostContext } from '../host-context.ts';
import { unknownRoute } from '../problems/unknown-route.ts';
import type { MetricsAccess } from '../settings.ts';

/** The permission of a principal that may read what a host counts, where `metrics` is `permitted`. */
export const METRICS_PERMISSION = 'metrics:read';

/** What the host counts, for a collector; no route when `access` is `false`. */
export function metricsRoutes(access: MetricsAccess): readonly Route[] {
  if (access === false) return [];
  return [
    route({
      method: 'GET',
      path: '/metrics',
      operation: {
        id: 'readMetrics',
        summary: 'What the host counts',
        description: 'In the text format of Prometheus. Each process counts for itself.',
        tags: ['operation'],
      },
      access: access === 'public' ? 'public' : 'caller',
      answers: {
        200: {
          description: 'Every count.',
          content: { 'text/plain': Type.String({ description: 'Lines of `name{labels} value`.' }) },
        },
      },
      errors: access === 'permitted' ? ['HTTP_ROUTE_UNKNOWN'] : [],
      handle: async (_input, { context, reply, caller }) => {
        if (access === 'permitted') checkPermission((await caller()).principal, context);
        const { registry } = context.operation.metrics;
        const text = await registry.metrics();
        return reply.type(registry.contentType).send(text);
      },
    }),
  ];
}

/** What a host counts tells of all its callers. Who may not see it is told that there is nothing. */
function checkPermission({ permissions }: Principal, context: HostContext): void {
  const path = `${context.prefix}/metrics`;
  if (!permissions.includes(METRICS_PERMISSION))
    throw unknownRoute(context, { method: 'GET', path });
}
