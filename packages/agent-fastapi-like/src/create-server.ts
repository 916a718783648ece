import { type HttpMount, httpRouteUnknown, type RunGateway } from '@hexagent/agent-core';
import fastify, { type FastifyInstance } from 'fastify';
import { refuseStrangers } from './access/principal.ts';
import type { HostContext } from './host-context.ts';
import { registerMetrics } from './metrics/register-metrics.ts';
import { checkMounts, registerMounts } from './mounts/mounts.ts';
import { type Connections, connectionsOf } from './operation/connections.ts';
import { createOperation, type Operation } from './operation/operation.ts';
import type { HostSettings } from './options.ts';
import { sendError } from './problems/error-reply.ts';
import { registerRoutes } from './routes/register-routes.ts';
import { registerWebSocket } from './websocket/register-websocket.ts';

export type HostServer = {
  readonly fastify: FastifyInstance;
  readonly operation: Operation;
  readonly connections: Connections;
};

/** The whole server, ready to listen: routes, mounts, errors, and who is refused at the door. */
export function createServer(
  settings: HostSettings,
  { gateway, mounts }: { readonly gateway: RunGateway; readonly mounts: readonly HttpMount[] },
): HostServer {
  checkMounts(mounts);
  const { bodyBytes, requestMs } = settings.limits;
  const server = fastify({
    bodyLimit: bodyBytes,
    requestTimeout: requestMs,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_000 },
    ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false } },
    logger: { level: settings.logLevel, stream: process.stderr },
    frameworkErrors: (error, _request, reply) => void sendError(error, reply, bodyBytes),
  });
  const connections = connectionsOf(server.server);
  const operation = createOperation();
  const context: HostContext = { gateway, settings, operation };
  server.setErrorHandler((error, _request, reply) => sendError(error, reply, bodyBytes));
  server.setNotFoundHandler((request, reply) =>
    sendError(httpRouteUnknown(request.method, request.url), reply, bodyBytes),
  );
  operation.register(server);
  server.addHook('onRequest', async (request) => {
    if (settings.authenticate === undefined) refuseStrangers(request.headers);
  });
  server.removeContentTypeParser('text/plain');
  registerMetrics(server, context);
  registerRoutes(server, context);
  server.register((scope) => registerWebSocket(scope, context));
  server.register(async (scope) => registerMounts(scope, mounts, context));
  return { fastify: server, operation, connections };
}
