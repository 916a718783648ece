import {
  type AnyPort,
  bootstrapInvalid,
  type InferSchema,
  type JsonSchemaLike,
  linked,
  type Needs,
  PROBLEM_MEDIA_TYPE,
  type Principal,
  type Problem,
  type Resolved,
} from '@hexagent/agent-core';
import type { FastifyBaseLogger } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { Problem as ProblemSchema } from '../schemas/problem.ts';
import { sendResponse } from '../web/web-response.ts';
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
export type RouteOptions<P, Q, B, R, N extends Needs, A extends Access, H = undefined> = {
  /** The name of the operation in the document, for clients that are made of it. Default: method and path. */
  readonly id?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  /** Served, and left out of the document. */
  readonly hidden?: boolean;
  /** Of the path: an object. Numbers and booleans are read as such. */
  readonly params?: P;
  /** Of the query: an object. Numbers, booleans and lists are read as such. */
  readonly query?: Q;
  /** Of the headers that are read: an object with names in lower case. */
  readonly headers?: H;
  readonly body?: B;
  /** Bytes of the body. Default: `limits.bodyBytes`. */
  readonly bodyBytes?: number;
  /**
   * Of the answer. One that does not fit is not sent: 500, and the log has the reason. Absent: 204 without a body. A handler that
   * gives a `Response` says status, headers and body by itself, which are sent as they are.
   */
  readonly response?: R;
  /** Other ways in which it answers, for the document: what it refuses, and what it gives as a `Response`. */
  readonly answers?: Readonly<Record<number, RouteAnswer>>;
  /** Default 200, or 204 without a `response`. */
  readonly status?: number;
  /** Ports that the handler gets as `deps`; bootstrap checks that they are bound. */
  readonly needs?: N;
  /** Default `caller`: only whom `authenticate` knows. `public`: anybody. */
  readonly access?: A;
};

/** One way in which a route answers. */
export type RouteAnswer = {
  readonly description: string;
  /** The media type. Default: `application/problem+json` from 400 on, below it none: there is no body. */
  readonly type?: string;
  /** Of its body. Default: any text. */
  readonly schema?: JsonSchemaLike;
};

/** What a handler is given. */
export type RouteRequest<P, Q, B, N extends Needs, A extends Access, H = undefined> = {
  readonly params: Described<P>;
  readonly query: Described<Q>;
  readonly headers: Described<H>;
  readonly body: Described<B>;
  readonly deps: Resolved<N>;
  /** Who asks; undefined on a route that is `public`. */
  readonly principal: A extends 'public' ? undefined : Principal;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  readonly log: FastifyBaseLogger;
};

/** A route without a `response` answers nothing, whatever its handler gives. */
type Handled<R> = R extends undefined ? unknown : Described<R> | Response;

export type AddRoute = <
  P extends JsonSchemaLike | undefined = undefined,
  Q extends JsonSchemaLike | undefined = undefined,
  B extends JsonSchemaLike | undefined = undefined,
  R extends JsonSchemaLike | undefined = undefined,
  const N extends Needs = Record<never, never>,
  const A extends Access = 'caller',
  H extends JsonSchemaLike | undefined = undefined,
>(
  path: string,
  options: RouteOptions<P, Q, B, R, N, A, H>,
  handler: (
    request: RouteRequest<P, Q, B, N, A, H>,
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
  Access,
  JsonSchemaLike | undefined
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
  const { params, query, headers, body, response, needs = {}, access = 'caller' } = options;
  const { answers = {}, bodyBytes } = options;
  const status = options.status ?? (response === undefined ? 204 : 200);
  const check = response === undefined ? undefined : schemaCheck(response);
  for (const schema of [params, query, headers, body])
    if (schema !== undefined) schemaCheck(schema);
  const deps = Object.fromEntries(
    Object.entries(needs).map(([name, port]) => [name, resolve(port)]),
  );
  return {
    method,
    path,
    operation: wordsOf(method, path, options),
    access,
    schemas: given({ params, query, headers, body }),
    answers: { [status]: answerOf(response), ...otherAnswers(answers) },
    errors: [],
    ...(bodyBytes === undefined ? {} : { bodyBytes }),
    handle: async ({ request, reply, caller, context }) => {
      const asking = access === 'public' ? undefined : await caller();
      const { operation } = context;
      const open = linked(operation.open.request(reply));
      const answer = await handler({
        params: request.params,
        query: request.query,
        headers: headers === undefined ? undefined : request.headers,
        body: request.body,
        deps,
        principal: asking?.principal,
        signal: open.signal,
        log: request.log,
      });
      if (answer instanceof Response) return sendResponse(answer, { reply, operation, open });
      if (check === undefined) return reply.code(status).send();
      const problems = check(answer, 'response');
      if (problems.length > 0) throw new ResponseUnfit(problems);
      return reply
        .code(status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer) ?? 'null');
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
  const { id = idOf(method, path), deprecated = false, hidden = false } = options;
  const words = { id, summary, tags, deprecated, hidden };
  return description === undefined ? words : { ...words, description };
}

/** `GET /customers/:id` is `getCustomersId`. */
function idOf(method: Method, path: string): string {
  return `${method} ${path}`
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word, index) =>
      index === 0 ? word.toLowerCase() : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .join('');
}

function answerOf(response: JsonSchemaLike | undefined): Answer {
  return response === undefined ? { description: 'It is done.' } : json(response, 'The answer.');
}

function otherAnswers(
  answers: Readonly<Record<number, RouteAnswer>>,
): Readonly<Record<number, Answer>> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, type, schema }]): [string, Answer] => {
      const isRefusal = Number(status) >= 400;
      const media = type ?? (isRefusal ? PROBLEM_MEDIA_TYPE : undefined);
      if (media === undefined) return [status, { description }];
      const body = schema ?? (type === undefined ? ProblemSchema : { type: 'string' });
      return [status, { description, content: { [media]: body } }];
    }),
  );
}
