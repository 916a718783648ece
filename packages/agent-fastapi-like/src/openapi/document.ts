import {
  type ErrorCode,
  httpStatusOf,
  isJsonObject,
  type JsonObject,
  type JsonSchemaLike,
  type JsonValue,
  PROBLEM_MEDIA_TYPE,
  runNotFound,
} from '@hexagent/agent-core';
import type { Answer, Route } from '../api/route.ts';
import { problemOf } from '../problems/problem-body.ts';
import { Problem } from '../schemas/problem.ts';
import { type Components, createComponents } from './components.ts';

export type DocumentWords = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the paths begin: the prefix of the routes. */
  readonly prefix: string;
  /** How callers show who they are; undefined for a host of one user. */
  readonly security: JsonObject | undefined;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Schemas that belong to no operation: the messages of a socket. */
  readonly schemas?: Readonly<Record<string, JsonSchemaLike>>;
};

/** The document of the API: every route with what it takes and what it answers. Source: OpenAPI 3.1.0. */
export function openApiDocument(routes: readonly Route[], words: DocumentWords): JsonObject {
  const components = createComponents();
  const paths: Record<string, Record<string, JsonValue>> = {};
  for (const route of routes.filter(({ operation }) => operation.hidden !== true)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(route, { components, words });
  }
  for (const [name, schema] of Object.entries(words.schemas ?? {}))
    components.reference({ title: name, ...schema });
  const { title, version, description, security } = words;
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: words.prefix === '' ? '/' : words.prefix }],
    tags: words.tags.map((tag) => ({ ...tag })),
    paths,
    components: {
      schemas: components.schemas,
      responses: { Problem: anyProblem(components) },
      ...(security === undefined ? {} : { securitySchemes: described(security) }),
    },
  };
}

/** A form asks for a bearer token by these words, unless the application has its own. */
function described(security: JsonObject): JsonObject {
  const description = 'The token alone, without the word `Bearer`: it is sent as `Authorization`.';
  return Object.fromEntries(
    Object.entries(security).map(([name, scheme]) => [
      name,
      isJsonObject(scheme) && scheme['scheme'] === 'bearer' ? { description, ...scheme } : scheme,
    ]),
  );
}

type Parts = { readonly components: Components; readonly words: DocumentWords };

function operationOf(route: Route, { components, words }: Parts): JsonObject {
  const { operation, schemas, access } = route;
  const { security } = words;
  const parameters = [
    ...parametersOf(schemas.params, 'path', components),
    ...parametersOf(schemas.query, 'query', components),
    ...parametersOf(schemas.headers, 'header', components),
  ];
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [...operation.tags],
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    ...(security === undefined
      ? {}
      : {
          security:
            access === 'public' ? [] : Object.keys(security).map((name) => ({ [name]: [] })),
        }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(schemas.body === undefined ? {} : { requestBody: bodyOf(schemas.body, components) }),
    responses: {
      ...problemsOf(route, { components, words }),
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [
          status,
          answerOf(answer, components),
        ]),
      ),
    },
    ...route.extension,
  };
}

function parametersOf(
  schema: JsonSchemaLike | undefined,
  place: 'path' | 'query' | 'header',
  components: Components,
): readonly JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = components.reference(schema);
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = isJsonObject(property) ? property : {};
    const isWanted = Array.isArray(required) && required.includes(name) && !('default' in rest);
    return {
      name,
      in: place,
      required: place === 'path' || isWanted,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

/** A body that may be null on the inside may be left out on the wire. */
function bodyOf(schema: JsonSchemaLike, components: Components): JsonObject {
  const { anyOf, ...rest } = components.reference(schema);
  const branches = Array.isArray(anyOf) ? anyOf : [];
  const given = branches.filter((branch) => !isJsonObject(branch) || branch['type'] !== 'null');
  const [only] = given;
  const shown =
    branches.length === 0
      ? rest
      : given.length === 1 && only !== undefined
        ? only
        : { ...rest, anyOf: given };
  return {
    required: given.length === branches.length,
    content: { 'application/json': { schema: shown } },
  };
}

function answerOf({ description, content, headers }: Answer, components: Components): JsonObject {
  return {
    description,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, words]) => [
              name,
              { description: words, schema: { type: 'string' } },
            ]),
          ),
        }),
    ...(content === undefined
      ? {}
      : {
          content: Object.fromEntries(
            Object.entries(content).map(([type, schema]) => [
              type,
              { schema: components.reference(schema) },
            ]),
          ),
        }),
  };
}

/** The codes that a route shares with every other, by what it reads and who may ask. */
function sharedErrors(
  { access, schemas }: Route,
  { words }: Pick<Parts, 'words'>,
): readonly ErrorCode[] {
  const reads = Object.values(schemas).some((schema) => schema !== undefined);
  return [
    ...(access === 'public' || words.security === undefined
      ? []
      : (['PRINCIPAL_REQUIRED', 'OWNER_UNRESOLVED'] as const)),
    ...(words.security === undefined ? (['HTTP_ORIGIN_REFUSED'] as const) : []),
    ...(reads ? (['INPUT_INVALID'] as const) : []),
    ...(schemas.body === undefined
      ? []
      : (['HTTP_REQUEST_INVALID', 'HTTP_BODY_TOO_LARGE', 'HTTP_MEDIA_TYPE_UNSUPPORTED'] as const)),
    'HTTP_RATE_LIMITED',
    'HOST_CLOSING',
    'HOST_OVERLOADED',
    'INTERNAL_ERROR',
  ];
}

function problemsOf(route: Route, { components, words }: Parts): JsonObject {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of [...sharedErrors(route, { words }), ...route.errors]) {
    const status = httpStatusOf(code);
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const content = { [PROBLEM_MEDIA_TYPE]: { schema: components.reference(Problem) } };
  const answers = [...byStatus].map(([status, codes]): [string, JsonObject] => [
    String(status),
    { description: [...codes].map((code) => `\`${code}\``).join(', '), content },
  ]);
  return Object.fromEntries([...answers, ['default', { $ref: '#/components/responses/Problem' }]]);
}

/** The form of every error, once for all operations, with one as it is really sent. */
function anyProblem(components: Components): JsonObject {
  const requestId = '6f1c3a52-90d4-4c7b-8e21-5b7f0a9d3c64';
  const { body } = problemOf(runNotFound('run-1'), requestId);
  return {
    description: `Any other error. Every error has this form, as \`${PROBLEM_MEDIA_TYPE}\`.`,
    content: {
      [PROBLEM_MEDIA_TYPE]: { schema: components.reference(Problem), example: { ...body } },
    },
  };
}
