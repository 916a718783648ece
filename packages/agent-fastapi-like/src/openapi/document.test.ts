import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { json, route } from '../api/route.ts';
import { openApiDocument } from './document.ts';

const operation = { id: 'op', summary: 'An operation', tags: ['t'] };
const WORDS = {
  title: 'T',
  version: '1',
  description: 'D',
  prefix: '',
  security: { bearer: { type: 'http', scheme: 'bearer' } },
  tags: [],
};

test('a body that may be null may be left out; one of several forms keeps them', () => {
  const one = Type.Object({ a: Type.String() });
  const two = Type.Object({ b: Type.String() });
  const at = (path: string, body: typeof one | ReturnType<typeof Type.Union>) =>
    route({
      method: 'POST',
      path,
      operation,
      body,
      answers: { 200: json(one, 'It.') },
      handle: async () => undefined,
    });
  const document = openApiDocument(
    [
      at('/must', one),
      at('/may', Type.Union([Type.Null(), one])),
      at('/several', Type.Union([Type.Null(), one, two])),
    ],
    WORDS,
  );
  const bodies = ['/must', '/may', '/several'].map((path) => [
    path,
    { post: { requestBody: expect.anything() } },
  ]);
  expect(document).toMatchObject({ paths: Object.fromEntries(bodies) });
  expect(document).toMatchObject({
    servers: [{ url: '/' }],
    paths: {
      '/must': { post: { requestBody: { required: true } } },
      '/may': {
        post: {
          requestBody: {
            required: false,
            content: { 'application/json': { schema: { properties: { a: {} } } } },
          },
        },
      },
      '/several': {
        post: {
          requestBody: {
            required: false,
            content: {
              'application/json': { schema: { anyOf: [{ type: 'object' }, { type: 'object' }] } },
            },
          },
        },
      },
    },
  });
});

test('schemas that belong to no operation stand beside the others, by their name', () => {
  const document = openApiDocument([], { ...WORDS, schemas: { Message: Type.Object({}) } });
  expect(document).toHaveProperty('components.schemas.Message.type', 'object');
});

test('every problem of a route has its status; the form of all stands once, with an example', () => {
  const answers = { 200: json(Type.Object({}), 'It.') };
  const handle = async (): Promise<undefined> => undefined;
  const errors = ['RUN_NOT_FOUND', 'AGENT_UNKNOWN'] as const;
  const document = openApiDocument(
    [route({ method: 'GET', path: '/one', operation, answers, errors, handle })],
    WORDS,
  );
  const content = {
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  };
  expect(document).toMatchObject({
    paths: {
      '/one': {
        get: {
          responses: {
            401: { description: '`PRINCIPAL_REQUIRED`', content },
            404: { description: '`RUN_NOT_FOUND`, `AGENT_UNKNOWN`', content },
            default: { $ref: '#/components/responses/Problem' },
          },
        },
      },
    },
    components: {
      responses: {
        Problem: {
          content: {
            'application/problem+json': {
              ...content['application/problem+json'],
              example: { status: 404, code: 'RUN_NOT_FOUND', mend: expect.stringMatching(/./) },
            },
          },
        },
      },
    },
  });
});

test('a bearer token is asked for in words, those of the application before ours', () => {
  const bearer = { type: 'http', scheme: 'bearer' };
  const own = { ...bearer, description: 'A key of the shop.' };
  const key = { type: 'apiKey', in: 'header', name: 'x-key' };
  const document = openApiDocument([], { ...WORDS, security: { bearer, own, key } });
  expect(document).toMatchObject({
    components: {
      securitySchemes: {
        bearer: { ...bearer, description: expect.stringContaining('without the word `Bearer`') },
        own,
        key,
      },
    },
  });
  expect(document).not.toHaveProperty('components.securitySchemes.key.description');
});
