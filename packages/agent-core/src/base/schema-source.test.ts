import { Type as Sinclair } from '@sinclair/typebox';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { closedObjects, isStandardSchema, jsonSchemaOf, standardCheck } from './schema-source.ts';
import type { StandardSchemaV1 } from './schema-types.ts';

const standard = (parts: object): StandardSchemaV1 =>
  ({
    '~standard': {
      version: 1,
      vendor: 'acme',
      validate: (value: unknown) => ({ value }),
      ...parts,
    },
  }) as StandardSchemaV1;

test('reads the types of both TypeBox packages as plain JSON Schema', () => {
  for (const [T, pattern] of [
    [Type, '^.*$'],
    [Sinclair, '^(.*)$'],
  ] as const) {
    const build = T as typeof Type;
    expect(
      jsonSchemaOf(
        build.Object({
          a: build.Optional(build.String()),
          b: build.Record(build.String(), build.Number()),
        }),
        'x',
      ),
    ).toEqual({
      ok: true,
      schema: {
        type: 'object',
        required: ['b'],
        properties: {
          a: { type: 'string' },
          b: { type: 'object', patternProperties: { [pattern]: { type: 'number' } } },
        },
      },
    });
  }
});

test('asks a Standard Schema for the JSON Schema of its input', () => {
  const asked: string[] = [];
  const schema = standard({
    jsonSchema: {
      input: ({ target }: { target: string }) => {
        asked.push(target);
        if (target !== 'draft-07') throw new Error('only draft 7');
        return { type: 'object' };
      },
    },
  });
  expect(jsonSchemaOf(schema, 'x')).toEqual({ ok: true, schema: { type: 'object' } });
  expect(asked).toEqual(['draft-2020-12', 'draft-07']);
});

test('says why a schema gives no JSON Schema', () => {
  const failing = (error: unknown) =>
    standard({
      jsonSchema: {
        input: () => {
          throw error;
        },
      },
    });
  const cases: readonly (readonly [unknown, string])[] = [
    [standard({}), 'is a Standard Schema of "acme" that cannot write itself as JSON Schema.'],
    [
      failing(new Error('dates cannot')),
      'is a Standard Schema of "acme" that cannot be written as JSON Schema: dates cannot.',
    ],
    [
      failing('text'),
      'is a Standard Schema of "acme" that cannot be written as JSON Schema: text.',
    ],
    [undefined, 'is null, not a schema.'],
    [[1], 'is [1], not a schema.'],
    [{ default: () => 1 }, 'default is a function, which JSON does not have.'],
  ];
  for (const [schema, seen] of cases) {
    expect(jsonSchemaOf(schema as object, 'here')).toEqual({
      ok: false,
      problems: [{ at: 'here', seen, mend: expect.any(String) }],
    });
  }
});

test('tells a Standard Schema, a function among them, from anything else', () => {
  expect(isStandardSchema(Object.assign(() => 1, standard({})))).toBe(true);
  for (const other of [
    null,
    1,
    {},
    { '~standard': null },
    { '~standard': 1 },
    { '~standard': {} },
    { '~standard': { validate: 1 } },
  ]) {
    expect(isStandardSchema(other)).toBe(false);
  }
});

test('checks by the schema itself, and names the path of each issue', () => {
  const issues = [
    { message: 'too short', path: ['a', { key: 'b' }, 0] },
    { message: 'odd' },
    { message: 'off', path: [null] },
  ];
  expect(standardCheck(standard({ validate: () => ({ issues }) }), 'x')(1)).toEqual({
    ok: false,
    problems: ['a.b.0: too short', 'the value: odd', 'null: off'],
  });
  const date = new Date(0);
  expect(standardCheck(standard({ validate: () => ({ value: date }) }), 'x')(1)).toEqual({
    ok: true,
    value: date,
  });
});

test('refuses a validator that answers with a promise, whatever becomes of it', () => {
  const check = standardCheck(
    standard({ validate: () => Promise.reject(new Error('late')) }),
    'defineTool("x").input',
  );
  expect(() => check({})).toThrow('defineTool("x").input validates asynchronously.');
});

test('closes every object that declares properties and says nothing of others', () => {
  expect(
    closedObjects({
      type: 'object',
      properties: {
        open: { type: 'object', properties: {}, additionalProperties: true },
        bare: { type: 'object' },
        list: { type: 'array', items: { type: 'object', properties: {} } },
        tuple: { type: 'array', items: [{ type: 'string' }, { type: 'object', properties: {} }] },
        one: { anyOf: [{ type: 'null' }, { type: 'object', properties: {} }] },
        map: { type: 'object', additionalProperties: { type: 'object', properties: {} } },
        record: {
          type: 'object',
          patternProperties: { '^.*$': { type: 'object', properties: {} } },
        },
        properties: { type: 'string' },
        odd: { properties: 1 },
      },
    }),
  ).toEqual({
    type: 'object',
    properties: {
      open: { type: 'object', properties: {}, additionalProperties: true },
      bare: { type: 'object' },
      list: {
        type: 'array',
        items: { type: 'object', properties: {}, additionalProperties: false },
      },
      tuple: {
        type: 'array',
        items: [
          { type: 'string' },
          { type: 'object', properties: {}, additionalProperties: false },
        ],
      },
      one: {
        anyOf: [{ type: 'null' }, { type: 'object', properties: {}, additionalProperties: false }],
      },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: {}, additionalProperties: false },
      },
      record: {
        type: 'object',
        patternProperties: {
          '^.*$': { type: 'object', properties: {}, additionalProperties: false },
        },
        additionalProperties: false,
      },
      properties: { type: 'string' },
      odd: { properties: 1, additionalProperties: false },
    },
    additionalProperties: false,
  });
});

test('answers the very same schema when there is nothing to close', () => {
  const schema = {
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }] } },
    additionalProperties: false,
  };
  expect(closedObjects(schema)).toBe(schema);
  expect(closedObjects({ properties: { a: {} }, additionalProperties: {}, items: [{}] })).toEqual({
    properties: { a: {} },
    additionalProperties: {},
    items: [{}],
  });
});
