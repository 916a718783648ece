import { definePort, type Port, type Principal } from '@hexagent/agent-core';
import { Type } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type { Described, RouteApi } from './user-routes.ts';

declare const api: RouteApi;
const Clock: Port<() => number> = definePort<() => number>('clock-of-test');

test('the types of a handler are those of its schemas', () => {
  api.get(
    '/a/:id',
    {
      params: Type.Object({ id: Type.Integer() }),
      query: Type.Object({ deep: Type.Optional(Type.Boolean()) }),
      headers: Type.Object({ 'x-trace': Type.Optional(Type.Integer()) }),
      response: Type.Object({ at: Type.Number() }),
      needs: { clock: Clock },
    },
    ({ params, query, headers, body, deps, principal }) => {
      expectTypeOf(headers['x-trace']).toEqualTypeOf<number | undefined>();
      expectTypeOf(params.id).toEqualTypeOf<number>();
      expectTypeOf(query.deep).toEqualTypeOf<boolean | undefined>();
      expectTypeOf(body).toEqualTypeOf<undefined>();
      expectTypeOf(principal).toEqualTypeOf<Principal>();
      return { at: deps.clock() };
    },
  );
});

test('an answer of another type does not compile', () => {
  // @ts-expect-error -- `at` is a number
  api.get('/a', { response: Type.Object({ at: Type.Number() }) }, () => ({ at: 'now' }));
});

test('an answer may be a `Response` instead', () => {
  api.get('/a', { response: Type.Object({ at: Type.Number() }) }, async () => new Response('x'));
  api.get('/a', {}, () => new Response('x'));
});

test('a public route has nobody', () => {
  api.get('/b', { access: 'public' }, ({ principal }) => {
    expectTypeOf(principal).toEqualTypeOf<undefined>();
  });
});

test('a schema of the older TypeBox is read by its static slot, and plain JSON Schema is unknown', () => {
  type Old = { readonly type: 'object'; readonly static: { readonly id: string } };
  expectTypeOf<Described<Old>>().toEqualTypeOf<{ readonly id: string }>();
  expectTypeOf<Described<{ readonly type: 'object' }>>().toEqualTypeOf<unknown>();
});
