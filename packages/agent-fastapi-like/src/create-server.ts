import {
  type HttpMount,
  hostClosing,
  httpRouteUnknown,
  type RunGateway,
} from '@hexagent/agent-core';
import fastify, { type FastifyInstance } from 'fastify';
import { type Connections, connectionsOf } from './connections.ts';
import { sendError } from './error-reply.ts';
import { checkMounts, registerMounts } from './mounts.ts';
import { type OpenRequests, openRequests } from './open-requests.ts';
import type { HostSettings } from './options.ts';
import { refuseStrangers } from './principal.ts';
import { registerRoutes } from './routes.ts';

export type HostServer = {
  readonly fastify: FastifyInstance;
  readonly open: OpenRequests;
  readonly connections: Connections;
  /** From now on new requests are refused with 503, and event streams end. */
  drain(): void;
  /** Settles when the work that outlives its responses is done. */
  idle(): Promise<void>;
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
  const open = openRequests();
  const connections = connectionsOf(server.server);
  const outliving = new Set<Promise<unknown>>();
  let draining = false;
  server.setErrorHandler((error, _request, reply) => sendError(error, reply, bodyBytes));
  server.setNotFoundHandler((request, reply) =>
    sendError(httpRouteUnknown(request.method, request.url), reply, bodyBytes),
  );
  server.addHook('onRequest', async (request) => {
    if (draining) throw hostClosing();
    if (settings.authenticate === undefined) refuseStrangers(request.headers);
  });
  server.removeContentTypeParser('text/plain');
  const context = { gateway, settings, open };
  registerRoutes(server, context);
  server.register(async (scope) => {
    const waitUntil = (work: Promise<unknown>): void => {
      const kept = work
        .catch((error: unknown) => server.log.error({ err: error }))
        .finally(() => outliving.delete(kept));
      outliving.add(kept);
    };
    registerMounts(scope, mounts, { ...context, waitUntil });
  });
  return {
    fastify: server,
    open,
    connections,
    drain: () => {
      draining = true;
      open.endStreams();
      connections.drain();
    },
    idle: async () => {
      await Promise.all(outliving);
    },
  };
}
