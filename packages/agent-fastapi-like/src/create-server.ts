import cors from '@fastify/cors';
import { bootstrapInvalid, type HttpMount, type RunGateway } from '@hexagent/agent-core';
import fastify, { type FastifyInstance } from 'fastify';
import type { Route } from './api/route.ts';
import type { HostContext } from './host-context.ts';
import { meteredGateway } from './metrics/metered-gateway.ts';
import { claimProblems } from './mounts/claims.ts';
import { registerMounts } from './mounts/mounts.ts';
import { type Connections, connectionsOf } from './operation/connections.ts';
import { createOperation, type Operation } from './operation/operation.ts';
import { answerClientError } from './problems/client-error.ts';
import { sendProblem } from './problems/error-reply.ts';
import { LOG_SERIALIZERS } from './problems/log-line.ts';
import { requestIdOf } from './problems/request-id.ts';
import { hostRoutes } from './routes/host-routes.ts';
import { RESERVED_PATHS, serveScope } from './serve-scope.ts';
import type { CorsOptions, HostSettings, TrustProxy } from './settings.ts';

export type HostServer = {
  readonly fastify: FastifyInstance;
  readonly operation: Operation;
  readonly connections: Connections;
};

/** Throws `BOOTSTRAP_INVALID` when two of mounts, routes and the host want one address. */
export function checkClaims(
  settings: HostSettings,
  wanted: { readonly mounts: readonly HttpMount[]; readonly routes: readonly Route[] },
): void {
  const own = hostRoutes(settings);
  const problems = claimProblems({ own, reserved: RESERVED_PATHS, ...wanted });
  if (problems.length > 0) throw bootstrapInvalid(problems);
}

/** The whole server, ready to listen: routes, mounts, errors, and who is refused at the door. */
export async function createServer(
  settings: HostSettings,
  {
    gateway,
    mounts,
    routes,
  }: {
    readonly gateway: RunGateway;
    readonly mounts: readonly HttpMount[];
    readonly routes: readonly Route[];
  },
): Promise<HostServer> {
  const { bodyBytes, heartbeatMs, requestMs } = settings.limits;
  const { trustProxy } = settings;
  const server = fastify({
    bodyLimit: bodyBytes,
    requestTimeout: requestMs,
    trustProxy: isNames(trustProxy) ? [...trustProxy] : trustProxy,
    http: {
      // A silent peer is asked by the kernel whether it is there: of one that is gone without a word nothing else would tell.
      keepAlive: true,
      keepAliveInitialDelay: Math.max(1_000, heartbeatMs), // whole seconds
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      // Node looks every 30 s, however short the time of a request is.
      connectionsCheckingInterval: Math.min(30_000, Math.max(250, Math.ceil(requestMs / 4))),
    },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_000 },
    genReqId: requestIdOf,
    logger: { level: settings.logLevel, stream: process.stderr, serializers: LOG_SERIALIZERS },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) =>
      void sendProblem(error, { request, reply, bodyBytes }),
  });
  const connections = connectionsOf(server.server);
  const operation = createOperation(settings.limits);
  const metered = meteredGateway(gateway, operation.metrics);
  const context: HostContext = { gateway: metered, settings, operation, prefix: '' };
  if (settings.cors !== undefined) await server.register(cors, corsPlugin(settings.cors));
  await serveScope(server, { context, routes, answersUnknown: true });
  await server.register(async (scope) => registerMounts(scope, mounts, context));
  return { fastify: server, operation, connections };
}

function isNames(trusted: TrustProxy): trusted is readonly string[] {
  return Array.isArray(trusted);
}

function corsPlugin({ origins, credentials = false, maxAgeSeconds = 600 }: CorsOptions) {
  return {
    origin: origins === '*' ? '*' : [...origins],
    credentials,
    maxAge: maxAgeSeconds,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['location', 'x-request-id', 'retry-after', 'preference-applied'],
  };
}
