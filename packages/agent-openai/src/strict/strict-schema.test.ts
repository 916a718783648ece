import type { JsonObject, JsonValue } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import { strictSchema } from './strict-schema.ts';

/** By way of an object, it could be; by way of `c`, it is itself. */
const CIRCLE = {
  anyOf: [{ type: 'object', properties: { c: { $ref: '#/$defs/c' } } }, { $ref: '#/$defs/c' }],
} as const;
const STRING = { type: 'string' } as const;

function strict(schema: JsonObject) {
  const made = strictSchema(schema);
  if (made === undefined) throw new Error('strict mode cannot express it');
  return made;
}

/** The strict form of one property of an object. */
function member(schema: JsonValue): JsonValue | undefined {
  const { properties } = strict({ type: 'object', properties: { m: schema }, required: ['m'] })
    .schema as { properties: JsonObject };
  return properties['m'];
}

describe('objects', () => {
  test('are closed, and every property is required; the optional ones may be null', () => {
    const { schema, isChanged } = strict({
      type: 'object',
      description: 'A search.',
      properties: { q: STRING, limit: { type: 'integer', minimum: 1, description: 'How many.' } },
      required: ['q'],
    });
    expect(schema).toEqual({
      type: 'object',
      description: 'A search.',
      properties: {
        q: STRING,
        limit: { type: ['integer', 'null'], minimum: 1, description: 'How many.' },
      },
      required: ['q', 'limit'],
      additionalProperties: false,
    });
    expect(isChanged).toBe(true);
  });

  test('without an optional property need no way back', () => {
    const { schema, isChanged } = strict({
      type: 'object',
      properties: { q: STRING },
      required: ['q'],
    });
    expect(schema).toMatchObject({ required: ['q'] });
    expect(isChanged).toBe(false);
    expect(strict({ type: 'object', properties: {} }).schema).toMatchObject({ required: [] });
  });

  test('a property that may be null itself stays as it is, and keeps its null', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'] },
        b: { anyOf: [STRING, { type: 'null' }] },
        c: { enum: ['x', null] },
        d: { const: null },
        e: { type: 'null' },
      },
    };
    const { isChanged, restore } = strict(schema);
    const value = { a: null, b: null, c: null, d: null, e: null };
    expect(isChanged).toBe(false);
    expect(restore(value)).toEqual(value);
  });
});

describe('the way back', () => {
  test('leaves out nulls that stand for nothing, wherever they are', () => {
    const point = { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } } };
    const { restore } = strict({
      type: 'object',
      properties: { name: STRING, from: point, points: { type: 'array', items: point } },
      required: ['points'],
    });
    expect(
      restore({ name: null, from: { x: 1, y: null }, points: [{ x: null, y: null }] }),
    ).toEqual({ from: { x: 1 }, points: [{}] });
  });

  test('knows the branch of a union by what fits', () => {
    const { restore } = strict({
      type: 'object',
      properties: {
        shape: {
          anyOf: [
            {
              type: 'object',
              properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
              required: ['kind'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'dot' }, radius: { type: ['number', 'null'] } },
              required: ['kind', 'radius'],
            },
          ],
        },
      },
      required: ['shape'],
    });
    expect(restore({ shape: { kind: 'circle', radius: null } })).toEqual({
      shape: { kind: 'circle' },
    });
    expect(restore({ shape: { kind: 'dot', radius: null } })).toEqual({
      shape: { kind: 'dot', radius: null },
    });
  });

  test('tells branches of one shape apart by their values', () => {
    const branch = (size: JsonObject, required: readonly string[]) => ({
      type: 'object',
      properties: { size, note: required.length > 1 ? { type: ['string', 'null'] } : STRING },
      required,
    });
    const { restore } = strict({
      type: 'object',
      properties: {
        item: {
          anyOf: [
            branch({ type: 'number', minimum: 5, multipleOf: 0.5 }, ['size']),
            branch({ type: 'number', exclusiveMaximum: 3 }, ['size', 'note']),
            branch({ type: 'string', pattern: '^[a-c]+$' }, ['size']),
          ],
        },
      },
      required: ['item'],
    });
    const back = (size: JsonValue) => restore({ item: { size, note: null } });
    expect(back(5.5)).toEqual({ item: { size: 5.5 } });
    expect(back(2)).toEqual({ item: { size: 2, note: null } });
    expect(back('abc')).toEqual({ item: { size: 'abc' } });
    expect(back(5.25)).toEqual({ item: { size: 5.25, note: null } });
    expect(back('abcd')).toEqual({ item: { size: 'abcd', note: null } });
  });

  test('leaves alone what fits nothing, and members that the schema does not know', () => {
    const { restore } = strict({
      type: 'object',
      properties: { a: { anyOf: [STRING, { type: 'object', properties: { b: STRING } }] } },
    });
    expect(restore({ a: { b: 5 }, more: null })).toEqual({ a: { b: 5 }, more: null });
    expect(restore('no object')).toBe('no object');
    expect(restore({ a: null })).toEqual({});
  });

  test('does not touch what it is given', () => {
    const { restore } = strict({ type: 'object', properties: { a: STRING } });
    const given = Object.freeze({ a: null });
    expect(restore(given)).toEqual({});
    expect(given).toEqual({ a: null });
  });
});

describe('what strict mode enforces stays; the rest is told', () => {
  test.each([
    [{ type: 'string', pattern: '^a+$' }],
    [{ type: 'string', format: 'date-time' }],
    [{ type: 'number', minimum: 0, exclusiveMaximum: 1, multipleOf: 0.5 }],
    [{ type: 'array', items: STRING, minItems: 1, maxItems: 3 }],
    [{ type: 'string', enum: ['a', 'b'] }],
    [{ type: 'string', const: 'a', title: 'A' }],
  ])('%j', (schema) => {
    expect(member(schema)).toEqual(schema);
  });

  test.each([
    [{ type: 'string', minLength: 2, maxLength: 5 }, 'minLength: 2. maxLength: 5.'],
    [{ type: 'string', format: 'uri' }, 'format: "uri".'],
    [{ type: 'string', pattern: '^(?=a)' }, 'pattern: "^(?=a)".'],
    [{ type: 'array', items: STRING, uniqueItems: true }, 'uniqueItems: true.'],
    [{ type: 'string', default: 'a' }, 'Default: "a".'],
    [{ type: 'string', not: { const: 'b' } }, 'not: {"const":"b"}.'],
  ])('%j', (schema, words) => {
    expect(member(schema)).toMatchObject({ description: words });
    expect(Object.keys(member(schema) as JsonObject).sort()).toEqual(
      ['description', 'items', 'type'].filter((key) => key !== 'items' || 'items' in schema),
    );
  });

  test('words follow the description that is there', () => {
    const { schema, loosened } = strict({
      type: 'object',
      description: 'A thing.',
      properties: { a: { type: 'string', description: 'A name.', minLength: 1 } },
      required: ['a'],
      minProperties: 1,
    });
    expect(schema).toMatchObject({
      description: 'A thing. minProperties: 1.',
      properties: { a: { description: 'A name. minLength: 1.' } },
    });
    expect([...loosened].sort()).toEqual(['minLength', 'minProperties']);
  });

  test('what says nothing to a model is left out', () => {
    expect(
      member({ type: 'string', $comment: 'x', deprecated: true, $schema: 'y', readOnly: true }),
    ).toEqual(STRING);
  });
});

test('oneOf becomes anyOf', () => {
  const branches = [STRING, { type: 'number' }];
  expect(member({ oneOf: branches, description: 'Either.' })).toEqual({
    anyOf: branches,
    description: 'Either.',
  });
});

test('types are named where only the values do', () => {
  expect(member({ enum: ['a', 1, true, null] })).toEqual({
    enum: ['a', 1, true, null],
    type: ['string', 'number', 'boolean', 'null'],
  });
  expect(member({ const: 5 })).toEqual({ const: 5, type: 'number' });
});

test('an object that may be null becomes a union, and so does a list of values', () => {
  const point = { type: 'object', properties: { x: STRING }, required: ['x'] } as const;
  const closed = { ...point, additionalProperties: false };
  expect(member({ ...point, type: ['object', 'null'] })).toEqual({
    anyOf: [closed, { type: 'null' }],
  });
  const { schema } = strict({
    type: 'object',
    properties: { p: point, e: { type: 'string', enum: ['a'] }, u: { type: ['string', 'number'] } },
  });
  expect(schema).toMatchObject({
    properties: {
      p: { anyOf: [closed, { type: 'null' }] },
      e: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
      u: { type: ['string', 'number', 'null'] },
    },
  });
});

describe('references', () => {
  test('stay references, to definitions in one place; a tree refers to itself', () => {
    const made = strict({
      type: 'object',
      properties: {
        tree: { $ref: '#/definitions/node' },
        name: { $ref: '#/$defs/na~1me' },
        again: { $ref: '#' },
      },
      required: ['tree'],
      definitions: {
        node: {
          type: 'object',
          properties: {
            value: STRING,
            children: { type: 'array', items: { $ref: '#/definitions/node' } },
          },
          required: ['value'],
        },
      },
      $defs: { 'na/me': { type: ['string', 'null'] } },
    });
    expect(made.schema).toMatchObject({
      properties: {
        tree: { $ref: '#/$defs/definitions_node' },
        name: { $ref: '#/$defs/na_1me' },
        again: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      },
      $defs: {
        definitions_node: {
          properties: {
            children: { anyOf: [{ type: 'array' }, { type: 'null' }] },
          },
          required: ['value', 'children'],
        },
        na_1me: { type: ['string', 'null'] },
      },
    });
    const leaf = { value: 'b', children: null };
    expect(
      made.restore({ tree: { value: 'a', children: [leaf] }, name: null, again: null }),
    ).toEqual({ tree: { value: 'a', children: [{ value: 'b' }] }, name: null });
  });

  test('have their description in a union of one', () => {
    const { schema } = strict({
      type: 'object',
      properties: { a: { $ref: '#/$defs/a', description: 'The a.' } },
      required: ['a'],
      $defs: { a: STRING },
    });
    expect(schema).toMatchObject({
      properties: { a: { description: 'The a.', anyOf: [{ $ref: '#/$defs/a' }] } },
    });
  });

  test('alone in allOf count as themselves', () => {
    expect(member({ allOf: [STRING], description: 'A.' })).toEqual({
      type: 'string',
      description: 'A.',
    });
  });
});

describe('a root that is no plain object', () => {
  test.each([[{ type: 'array', items: STRING }], [{ anyOf: [STRING, { type: 'null' }] }]])(
    '%j gets a wrapping, which the way back takes off',
    (schema) => {
      expect(strictSchema(schema)).toBeUndefined();
      const made = strictSchema(schema, { wrap: true });
      expect(made?.schema).toMatchObject({
        type: 'object',
        required: ['value'],
        additionalProperties: false,
        properties: { value: schema },
      });
      expect(made?.isChanged).toBe(true);
      expect(made?.restore({ value: ['a'] })).toEqual(['a']);
      expect(made?.restore('as it is')).toBe('as it is');
    },
  );

  test('definitions stay where references look for them', () => {
    const made = strictSchema(
      { type: 'array', items: { $ref: '#/$defs/a' }, $defs: { a: STRING } },
      { wrap: true },
    );
    expect(made?.schema).toMatchObject({ $defs: { a: STRING } });
  });
});

test.each([
  ['an open record', { type: 'object', additionalProperties: STRING }],
  ['a record of anything', { type: 'object' }],
  ['patterns of names', { type: 'object', patternProperties: { '^a': STRING }, properties: {} }],
  ['anything', {}],
  ['true', true],
  ['a tuple', { type: 'array', prefixItems: [STRING], items: STRING }],
  ['a list of anything', { type: 'array' }],
  ['an intersection', { allOf: [STRING, { minLength: 1 }] }],
  ['an intersection that says a thing twice', { allOf: [STRING], type: 'string' }],
  ['a union beside a type', { type: 'string', anyOf: [STRING] }],
  ['a union beside a constraint', { anyOf: [STRING], minLength: 1 }],
  ['two unions', { anyOf: [STRING], oneOf: [STRING] }],
  ['an empty union', { anyOf: [] }],
  ['a foreign reference', { $ref: 'https://example.org/a.json' }],
  ['a reference to nowhere', { $ref: '#/$defs/nowhere' }],
  ['a reference that only refers to itself', { $ref: '#/$defs/loop' }],
  ['references in a circle', { $ref: '#/$defs/b' }],
  ['a reference beside a constraint', { $ref: '#/$defs/a', minLength: 1 }],
  ['values that are objects', { enum: [{ a: 1 }] }],
  ['a type that is none', { type: 'text' }],
  ['a type of several structures', { type: ['object', 'array'], items: STRING }],
  ['a structure or a scalar', { type: ['array', 'string'], items: STRING }],
  ['a list with fixed values', { type: 'array', items: STRING, enum: ['a'] }],
  ['a property that is required and unknown', { type: 'object', properties: {}, required: ['a'] }],
  ['required that is no list', { type: 'object', properties: {}, required: 'a' }],
  [
    'a name that is no ordinary member',
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
  ],
])('%s cannot be strict', (_, schema) => {
  expect(
    strictSchema({
      type: 'object',
      properties: { m: schema },
      $defs: { a: STRING, loop: { $ref: '#/$defs/loop' }, b: CIRCLE, c: { $ref: '#/$defs/b' } },
    }),
  ).toBeUndefined();
});

describe('beyond the limits', () => {
  const nested = (depth: number): JsonObject =>
    depth === 0
      ? STRING
      : { type: 'object', properties: { a: nested(depth - 1) }, required: ['a'] };
  const words = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'x'));
  const properties = (names: readonly string[]): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, STRING])),
    required: names,
  });
  const one = (values: readonly string[]): JsonObject => ({
    type: 'object',
    properties: { m: { type: 'string', enum: values } },
    required: ['m'],
  });

  test.each([
    ['ten levels', nested(10), nested(11)],
    ['five thousand properties', properties(words(5000, 4)), properties(words(5001, 4))],
    ['a thousand values', one(words(1000, 4)), one(words(1001, 4))],
    ['characters of a long list', one(words(300, 50)), one(words(301, 50))],
    ['characters of all names', properties(words(1000, 120)), properties(words(1001, 120))],
  ])('%s', (_, within, beyond) => {
    expect(strictSchema(within)).toBeDefined();
    expect(strictSchema(beyond)).toBeUndefined();
  });

  test('definitions count too', () => {
    const root = (a: JsonObject): JsonObject => ({
      type: 'object',
      properties: { m: { $ref: '#/$defs/a' }, c: { const: 'x' } },
      $defs: { a },
    });
    expect(strictSchema(root(nested(10)))).toBeDefined();
    expect(strictSchema(root(nested(11)))).toBeUndefined();
  });
});

describe('hostile schemas are sent as they are, without strict', () => {
  const withDefs = (text: string) => strictSchema(JSON.parse(text));

  test('two definitions whose names look the same, and one that no object can hold', () => {
    const a = '"a":{"$ref":"#/$defs/a~1b"}';
    const b = '"b":{"$ref":"#/$defs/a_1b"}';
    const defs = '"$defs":{"a/b":{"type":"string"},"a_1b":{"type":"number"}}';
    expect(withDefs(`{"type":"object","properties":{${a},${b}},${defs}}`)).toBeUndefined();
    expect(withDefs(`{"type":"object","properties":{${a}},${defs}}`)).toBeDefined();
    expect(
      withDefs(
        '{"type":"object","properties":{"a":{"$ref":"#/$defs/__proto__"}},"$defs":{"__proto__":{"type":"string"}}}',
      ),
    ).toBeUndefined();
  });

  test('a reference that is no pointer, and more levels than the stack has', () => {
    const bad = { type: 'object', properties: { a: { $ref: '#/$defs/%zz' } }, $defs: {} };
    expect(strictSchema(bad)).toBeUndefined();
    let deep: JsonObject = STRING;
    for (let level = 0; level < 20_000; level += 1) {
      deep = { type: 'object', properties: { a: deep }, required: ['a'] };
    }
    expect(strictSchema(deep)).toBeUndefined();
  });

  test('a keyword that every object has by birth is told as it stands', () => {
    const { schema } = strict({
      type: 'object',
      properties: { constructor: { type: 'string', constructor: 5 } },
      required: ['constructor'],
    });
    expect(schema['properties']).toEqual({
      constructor: { type: 'string', description: 'constructor: 5.' },
    });
  });
});
