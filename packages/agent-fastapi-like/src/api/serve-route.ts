import { httpRouteUnknown, isJsonObject } from '@hexagent/agent-core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateRequest } from '../access/authenticate-request.ts';
import { callerOf, streamCallerOf } from '../access/caller.ts';
import type { HostContext } from '../host-context.ts';
import { pathOf } from '../problems/log-line.ts';
import type { Answer, Route } from './route.ts';
import { requestCheck } from './validation.ts';

/**
 * Makes a scope check requests with the schemas of its routes and answer as it is told: nothing of an answer is left out
 * because a schema does not name it.
 */
export function prepareScope(scope: FastifyInstance): void {
  scope.setValidatorCompiler(({ schema, httpPart = 'body' }) =>
    // The schema is one of a `Route`, or of a route that somebody added to this scope: a JSON Schema either way.
    requestCheck(schema as object, { part: httpPart }),
  );
  scope.setSerializerCompiler(() => (data) => JSON.stringify(data));
  scope.removeAllContentTypeParsers();
  const parse = scope.getDefaultJsonParser('error', 'error');
  for (const type of ['application/json', /^application\/[\w.-]+\+json$/])
    scope.addContentTypeParser(type, { parseAs: 'string' }, parse);
}

/** Serves a route: who asks is known before anything of the request is read. */
export function serveRoute(scope: FastifyInstance, route: Route, context: HostContext): void {
  const { method, path, access } = route;
  scope.route({
    method,
    url: path,
    bodyLimit: route.bodyBytes ?? context.settings.limits.bodyBytes,
    config: { access },
    exposeHeadRoute: methodsOf(route).includes('HEAD'),
    schema: fastifySchema(route),
    onRequest: async (request, reply) => {
      if (hasEmptyParam(request)) throw httpRouteUnknown(request.method, pathOf(request.url));
      if (access !== 'public') await authenticateRequest(request, context);
      nameRun(request, reply);
    },
    handler: (request, reply) =>
      route.handle({
        request,
        reply,
        context,
        caller: () => callerOf(request, reply, context),
        streamCaller: () => streamCallerOf(request, reply, context),
      }),
  });
}

/** A path that ends where its parameter should stand, like `/runs/`, is not that of a route. */
function hasEmptyParam({ params }: FastifyRequest): boolean {
  return isJsonObject(params) && Object.values(params).includes('');
}

/** Every line that is logged from here on says which run it is about. */
function nameRun(request: FastifyRequest, reply: FastifyReply): void {
  const { params } = request;
  if (typeof params !== 'object' || params === null || !('runId' in params)) return;
  request.log = request.log.child({ run: params.runId });
  reply.log = request.log;
}

/** The methods that the path of a route takes because of it: what can be read to its end has a HEAD. */
export function methodsOf(route: Route): readonly string[] {
  return route.method === 'GET' && !streams(route) ? ['GET', 'HEAD'] : [route.method];
}

const streams = ({ answers }: Route): boolean =>
  Object.values(answers).some(({ content = {} }) => 'text/event-stream' in content);

/** What Fastify checks, and what a document that the application makes by itself can say of a route. */
function fastifySchema({ schemas, operation, answers }: Route): Readonly<Record<string, unknown>> {
  const { params, query, headers, body } = schemas;
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: operation.tags,
    deprecated: operation.deprecated ?? false,
    hide: operation.hidden ?? false,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    response: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)]),
    ),
  };
}

function responseOf({ description, content }: Answer): Readonly<Record<string, unknown>> {
  if (content === undefined) return { description, type: 'null' };
  return {
    description,
    content: Object.fromEntries(
      Object.entries(content).map(([type, schema]) => [type, { schema }]),
    ),
  };
}
