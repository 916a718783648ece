import helmet from '@fastify/helmet';
import { httpMethodNotAllowed, type JsonObject } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseStrangers } from './access/refuse-strangers.ts';
import { withDistinctIds } from './api/distinct-ids.ts';
import { pathPattern } from './api/path-pattern.ts';
import type { Route } from './api/route.ts';
import { methodsOf, prepareScope, serveRoute } from './api/serve-route.ts';
import type { HostContext } from './host-context.ts';
import { registerMetrics } from './metrics/register-metrics.ts';
import { DOCS_FILES, DOCS_PATHS, registerDocs } from './openapi/docs-page.ts';
import { openApiDocument } from './openapi/document.ts';
import { sendProblem } from './problems/error-reply.ts';
import { LOG_SERIALIZERS, pathOf } from './problems/log-line.ts';
import { unknownRoute } from './problems/unknown-route.ts';
import { hostRoutes, TAGS } from './routes/host-routes.ts';
import { Envelope } from './schemas/event.ts';
import type { DocsSettings } from './settings.ts';
import { SOCKET_MESSAGES, SOCKET_PATH } from './websocket/messages.ts';
import { registerWebSocket } from './websocket/register-websocket.ts';

/** Paths of the host that are no routes of the document, with everything below them. */
export const RESERVED_PATHS: readonly string[] = [...DOCS_PATHS, SOCKET_PATH];

export type ScopeParts = {
  readonly context: HostContext;
  /** Routes of the application. */
  readonly routes: readonly Route[];
  /** Whether unknown paths of this scope are answered here. */
  readonly answersUnknown: boolean;
};

/**
 * Puts everything that the host serves into a scope of Fastify: what guards it, the routes of the agents, those of the application,
 * the docs. Nothing of it reaches the scopes around this one.
 */
export async function serveScope(
  scope: FastifyInstance,
  { context, routes, answersUnknown }: ScopeParts,
): Promise<void> {
  const all = withDistinctIds([...hostRoutes(context.settings), ...routes]);
  prepareScope(scope);
  answerErrors(scope, { context, routes: all, answersUnknown });
  scope.addHook('onRoute', (route) => {
    route.logSerializers = { ...route.logSerializers, ...LOG_SERIALIZERS };
  });
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  await scope.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  });
  await context.operation.register(scope, context.settings);
  if (context.settings.authenticate === undefined)
    scope.addHook('onRequest', async ({ headers }) => refuseStrangers(headers));
  registerMetrics(scope, context.operation.metrics);
  for (const route of all) serveRoute(scope, route, context);
  const { docs } = context.settings;
  if (docs !== undefined) registerDocs(scope, documentOf(all, { docs, context }));
  await scope.register(async (inner) => registerWebSocket(inner, context));
}

function documentOf(
  routes: readonly Route[],
  { docs, context }: { readonly docs: DocsSettings; readonly context: HostContext },
): JsonObject {
  const known: readonly string[] = TAGS.map(({ name }) => name);
  const own = [...new Set(routes.flatMap(({ operation }) => operation.tags))]
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, description: 'Routes of the application.' }));
  const { security, ...words } = docs;
  return openApiDocument(routes, {
    ...words,
    prefix: context.prefix,
    security: context.settings.authenticate === undefined ? undefined : security,
    tags: [...own, ...TAGS],
    schemas: { Envelope, ...SOCKET_MESSAGES },
  });
}

/** Everything that is refused or fails below this scope is answered in one form. */
function answerErrors(
  scope: FastifyInstance,
  { context, routes, answersUnknown }: ScopeParts,
): void {
  const { bodyBytes } = context.settings.limits;
  scope.setErrorHandler((error, request, reply) =>
    sendProblem(error, { request, reply, bodyBytes }),
  );
  // Without a path of its own a scope shares unknown paths with the application around it, which answers them itself.
  if (answersUnknown) scope.setNotFoundHandler(unknownHandler(routes, context));
}

/** A path that nobody serves is told apart from a method that a path does not take. */
function unknownHandler(
  routes: readonly Route[],
  context: HostContext,
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  const { prefix } = context;
  const { docs, limits } = context.settings;
  const reading = docs === undefined ? [] : DOCS_FILES;
  const served = [
    ...routes.map((route) => ({ ...route, methods: methodsOf(route) })),
    ...reading.map((path) => ({ path, methods: ['GET', 'HEAD'] })),
    { path: SOCKET_PATH, methods: ['GET'] },
  ].map(({ path, methods }) => ({ pattern: pathPattern(path), methods }));
  return (request, reply) => {
    const path = pathOf(request.url);
    const inside = path.slice(prefix.length);
    const methods = [
      ...new Set(served.flatMap((one) => (one.pattern.test(inside) ? one.methods : []))),
    ];
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    const error =
      methods.length > 0
        ? httpMethodNotAllowed(request.method, path, methods)
        : unknownRoute(context, { method: request.method, path });
    return sendProblem(error, { request, reply, bodyBytes: limits.bodyBytes });
  };
}
