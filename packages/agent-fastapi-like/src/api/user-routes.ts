import {
  type AnyPort,
  bootstrapInvalid,
  type InferSchema,
  type JsonSchemaLike,
  type Needs,
  type Principal,
  type Problem,
  type Resolved,
} from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { type Access, type Answer, given, json, type Method, type Route } from './route.ts';
import { schemaCheck } from './validation.ts';

/** The type of what a schema describes: of `typebox`, of `@sinclair/typebox`, or `unknown` for plain JSON Schema. */
export type Described<S> = S extends undefined
  ? undefined
  : S extends { readonly '~kind': string }
    ? S extends TSchema
      ? Static<S>
      : unknown
    : InferSchema<S>;

/** What a route of the application takes and answers. Everything in it is checked, and stands in the document. */
export type RouteOptions<P, Q, B, R, N extends Needs, A extends Access> = {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Of the path: an object. Numbers and booleans are read as such. */
  readonly params?: P;
  /** Of the query: an object. Numbers, booleans and lists are read as such. */
  readonly query?: Q;
  readonly body?: B;
  /** Of the answer. One that does not fit is not sent: 500, and the log has the reason. Absent: 204 without a body. */
  readonly response?: R;
  /** Default 200, or 204 without a `response`. */
  readonly status?: number;
  /** Ports that the handler gets as `deps`; bootstrap checks that they are bound. */
  readonly needs?: N;
  /** Default `caller`: only whom `authenticate` knows. `public`: anybody. */
  readonly access?: A;
};

/** What a handler is given. */
export type RouteRequest<P, Q, B, N extends Needs, A extends Access> = {
  readonly params: Described<P>;
  readonly query: Described<Q>;
  readonly body: Described<B>;
  readonly deps: Resolved<N>;
  /** Who asks; undefined on a route that is `public`. */
  readonly principal: A extends 'public' ? undefined : Principal;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  readonly log: FastifyBaseLogger;
};

/** A route without a `response` answers nothing, whatever its handler gives. */
type Handled<R> = R extends undefined ? unknown : Described<R>;

export type AddRoute = <
  P extends JsonSchemaLike | undefined = undefined,
  Q extends JsonSchemaLike | undefined = undefined,
  B extends JsonSchemaLike | undefined = undefined,
  R extends JsonSchemaLike | undefined = undefined,
  const N extends Needs = Record<never, never>,
  const A extends Access = 'caller',
>(
  path: string,
  options: RouteOptions<P, Q, B, R, N, A>,
  handler: (
    request: RouteRequest<P, Q, B, N, A>,
  ) => NoInfer<Handled<R>> | Promise<NoInfer<Handled<R>>>,
) => void;

/** Adds routes of the application beside those of the agents. */
export interface RouteApi {
  readonly get: AddRoute;
  readonly post: AddRoute;
  readonly put: AddRoute;
  readonly patch: AddRoute;
  readonly delete: AddRoute;
}

/** Declares the routes of an application: called once, before anything is started. */
export type Routes = (api: RouteApi) => void;

export type DeclaredRoutes = {
  readonly routes: readonly Route[];
  /** Every port that one of them needs, once. */
  readonly needs: readonly AnyPort[];
};

type Resolve = (port: AnyPort) => unknown;

/** What `routes` declares; the ports are resolved when `resolve` is there, which is when the application is set up. */
export function declaredRoutes(
  declare: Routes | undefined,
  resolve: Resolve = () => undefined,
): DeclaredRoutes {
  const routes: Route[] = [];
  const needs = new Map<string, AnyPort>();
  const problems: Problem[] = [];
  const add =
    (method: Method): AddRoute =>
    (path, options, handler) => {
      for (const port of Object.values(options.needs ?? {})) needs.set(port.id, port);
      try {
        // The types of a handler are those of its schemas, and each part has passed its schema before the handler is called.
        routes.push(routeOf({ method, path, options, handler: handler as Handler, resolve }));
      } catch (error) {
        problems.push({
          at: `routes ${method} "${path}"`,
          seen: `has a schema that cannot be used: ${String(error)}.`,
          mend: 'Use TypeBox, or JSON Schema.',
        });
      }
    };
  declare?.({
    get: add('GET'),
    post: add('POST'),
    put: add('PUT'),
    patch: add('PATCH'),
    delete: add('DELETE'),
  });
  if (problems.length > 0) throw bootstrapInvalid(problems);
  return { routes, needs: [...needs.values()] };
}

type Handler = (request: unknown) => unknown;
type Options = RouteOptions<
  JsonSchemaLike | undefined,
  JsonSchemaLike | undefined,
  JsonSchemaLike | undefined,
  JsonSchemaLike | undefined,
  Needs,
  Access
>;

function routeOf({
  method,
  path,
  options,
  handler,
  resolve,
}: {
  readonly method: Method;
  readonly path: string;
  readonly options: Options;
  readonly handler: Handler;
  readonly resolve: Resolve;
}): Route {
  const { params, query, body, response, needs = {}, access = 'caller' } = options;
  const status = options.status ?? (response === undefined ? 204 : 200);
  const check = response === undefined ? undefined : schemaCheck(response);
  for (const schema of [params, query, body]) if (schema !== undefined) schemaCheck(schema);
  const deps = Object.fromEntries(
    Object.entries(needs).map(([name, port]) => [name, resolve(port)]),
  );
  return {
    method,
    path,
    operation: wordsOf(method, path, options),
    access,
    schemas: given({ params, query, body, headers: undefined }),
    answers: { [status]: answerOf(response) },
    errors: [],
    handle: async ({ request, reply, caller, context }) => {
      const asking = access === 'public' ? undefined : await caller();
      const answer = await handler({
        params: request.params,
        query: request.query,
        body: request.body,
        deps,
        principal: asking?.principal,
        signal: asking?.signal ?? context.operation.open.request(reply),
        log: request.log,
      });
      if (check === undefined) return reply.code(status).send();
      const problems = check(answer, 'response');
      if (problems.length > 0) throw new ResponseUnfit(problems);
      return reply
        .code(status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer));
    },
  };
}

/** A bug of a handler: its answer is not what the route says. The caller is told nothing of it. */
class ResponseUnfit extends Error {
  constructor(problems: readonly Problem[]) {
    super(`The answer does not fit: ${problems.map(({ at, seen }) => `${at} ${seen}`).join(' ')}`);
    this.name = 'ResponseUnfit';
  }
}

function wordsOf(method: Method, path: string, options: Options): Route['operation'] {
  const { summary = `${method} ${path}`, description, tags = ['application'] } = options;
  const id = `${method} ${path}`
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word, index) =>
      index === 0 ? word.toLowerCase() : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .join('');
  return { id, summary, tags, ...(description === undefined ? {} : { description }) };
}

function answerOf(response: JsonSchemaLike | undefined): Answer {
  return response === undefined ? { description: 'It is done.' } : json(response, 'The answer.');
}
