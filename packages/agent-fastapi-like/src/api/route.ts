import type { Caller, ErrorCode, JsonObject, JsonSchemaLike } from '@hexagent/agent-core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { HostContext } from '../host-context.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** Who may ask: whoever `authenticate` knows, or anybody. */
export const ACCESSES = ['caller', 'public'] as const;
export type Access = (typeof ACCESSES)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may ask, for hooks that run before a route does. */
    readonly access?: Access;
  }
}

/** One way in which a route answers. */
export type Answer = {
  readonly description: string;
  /** A schema by media type; absent: there is no body. */
  readonly content?: Readonly<Record<string, JsonSchemaLike>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** How a route is shown in the document of the API. */
export type OperationWords = {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** Left out of the document. */
  readonly hidden?: boolean;
};

/** The schemas of the parts of a request; a part without one is not read. A body that may be left out may be null. */
export type RequestSchemas = {
  readonly params?: JsonSchemaLike;
  readonly query?: JsonSchemaLike;
  readonly headers?: JsonSchemaLike;
  readonly body?: JsonSchemaLike;
};

/** A request at work. */
export type Served = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: HostContext;
  /** Who asks for an answer that has an end. */
  caller(): Promise<Caller>;
  /** Who asks for a stream: its signal is aborted as soon as the host closes, too. */
  streamCaller(): Promise<Caller>;
};

/** A route of the host as data: what is served and what the document says come from the same place. */
export type Route = {
  readonly method: Method;
  /** Parameters are named with a colon: `/runs/:runId`. */
  readonly path: string;
  readonly operation: OperationWords;
  readonly access: Access;
  readonly schemas: RequestSchemas;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Codes that are this route's own; those that every route shares are added in the document. */
  readonly errors: readonly ErrorCode[];
  /** Bytes of its body; absent: as many as the host takes. */
  readonly bodyBytes?: number;
  /** What is to be added to its operation in the document. */
  readonly extension?: JsonObject;
  handle(served: Served): Promise<unknown>;
};

type Maybe = TSchema | undefined;
type Part<S> = S extends TSchema ? Static<S> : undefined;

type RouteSpec<P, Q, H, B> = Omit<Route, 'access' | 'schemas' | 'errors' | 'handle'> & {
  readonly access?: Access;
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: B;
  readonly errors?: readonly ErrorCode[];
  readonly handle: (
    input: {
      readonly params: Part<P>;
      readonly query: Part<Q>;
      readonly headers: Part<H>;
      readonly body: Part<B>;
    },
    served: Served,
  ) => Promise<unknown>;
};

/** A route whose handler is typed by its schemas. */
export function route<
  P extends Maybe = undefined,
  Q extends Maybe = undefined,
  H extends Maybe = undefined,
  B extends Maybe = undefined,
>(spec: RouteSpec<P, Q, H, B>): Route {
  const { access = 'caller', params, query, headers, body, errors = [], handle, ...rest } = spec;
  return {
    ...rest,
    access,
    schemas: given({ params, query, headers, body }),
    errors,
    handle: (served) => {
      const { request } = served;
      // Each part has passed its schema before the handler is called.
      const input = {
        params: request.params as Part<P>,
        query: request.query as Part<Q>,
        headers: request.headers as Part<H>,
        body: request.body as Part<B>,
      };
      return handle(input, served);
    },
  };
}

/** The parts that have a schema. */
export function given(
  schemas: {
    readonly [Name in keyof RequestSchemas]-?: JsonSchemaLike | undefined;
  },
): RequestSchemas {
  return Object.fromEntries(Object.entries(schemas).filter(([, schema]) => schema !== undefined));
}

/** An answer of JSON. */
export function json(schema: JsonSchemaLike, description: string): Answer {
  return { description, content: { 'application/json': schema } };
}
