import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { compileSchema } from './schema.ts';

const checked = (schema: JsonObject, value: unknown): unknown => {
  const compiled = compileSchema(schema, 'schema');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const result = compiled.check(value);
  return result.ok ? { value: result.value } : result.problems;
};

const problemsOf = (schema: unknown): readonly string[] => {
  const compiled = compileSchema(schema as JsonObject, 'schema');
  return compiled.ok ? [] : compiled.problems.map(({ at, seen }) => `${at}: ${seen}`);
};

const accepts = (schema: JsonObject, ...values: readonly unknown[]): void => {
  for (const value of values) expect(checked(schema, value)).toEqual({ value });
};

const refuses = (schema: JsonObject, value: unknown, ...problems: readonly string[]): void => {
  expect(checked(schema, value)).toEqual(problems);
};

test('takes any value where nothing is said', () => {
  accepts({}, null, 1, 'x', [1], { a: 1 });
});

test('knows every type', () => {
  accepts({ type: 'string' }, '');
  accepts({ type: 'number' }, 1.5);
  accepts({ type: 'integer' }, 2);
  accepts({ type: 'boolean' }, false);
  accepts({ type: 'null' }, null);
  accepts({ type: 'array' }, [1, 'a']);
  accepts({ type: 'object' }, { a: 1 });
  refuses({ type: 'string' }, 1, 'the value must be a string, is a number');
  refuses({ type: 'number' }, Number.NaN, 'the value must be a number, is a number');
  refuses({ type: 'integer' }, 1.5, 'the value must be a whole number, is a number');
  refuses({ type: 'boolean' }, undefined, 'the value must be a boolean, is missing');
  refuses({ type: 'null' }, {}, 'the value must be null, is an object');
  refuses({ type: 'array' }, null, 'the value must be a list, is null');
  refuses({ type: 'object' }, [], 'the value must be an object, is a list');
});

test('takes a list of types, nullable among them', () => {
  accepts({ type: ['string', 'null'], minLength: 2 }, 'ab', null);
  refuses({ type: ['string', 'null'] }, 1, 'the value must be a string or null, is a number');
});

test('knows enum and const, also of mixed types', () => {
  accepts({ enum: ['a', 1, true, null] }, 'a', 1, true, null);
  refuses({ enum: ['a', 1] }, 'b', 'the value must be one of "a", 1');
  accepts({ const: null }, null);
  refuses({ const: 'a' }, 'b', 'the value must be "a"');
});

test('counts the characters of a string as people do', () => {
  const schema = { type: 'string', minLength: 2, maxLength: 3 };
  accepts(schema, 'ab', '👍👍', '👍👍👍');
  refuses(schema, 'a', 'the value must have at least 2 characters');
  refuses(schema, '👍', 'the value must have at least 2 characters');
  refuses(schema, 'abcd', 'the value must have at most 3 characters');
  accepts({ minLength: 1 }, 'a', 7);
});

test('matches patterns, with Unicode where they allow it', () => {
  accepts({ type: 'string', pattern: '^\\p{L}+$' }, 'é');
  accepts({ type: 'string', pattern: '^a\\-b$' }, 'a-b');
  refuses({ type: 'string', pattern: '^a$' }, 'b', 'the value must match ^a$');
});

test('checks each of its formats', () => {
  const cases: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
    'date-time': [
      ['2024-02-29T23:59:60Z', '2000-02-29t00:00:00.5+05:30'],
      [
        '2023-02-29T00:00:00Z',
        '1900-02-29T00:00:00Z',
        '2024-01-01 00:00:00Z',
        '2024-01-01T24:00:00Z',
        '2024-01-01T00:00:00',
      ],
    ],
    date: [['2024-12-31'], ['2024-13-01', '2024-04-31', '2024-04-00', '24-1-1', '2100-02-29']],
    time: [
      ['10:00:00Z', '23:59:59.123-08:00'],
      ['10:00', '25:00:00Z'],
    ],
    email: [
      ['a.b+c@example.com', 'x@y'],
      ['a@', '@b.c', 'a b@c.d', 'a@b..c', 'a@-b.c', `${'a'.repeat(250)}@b.co`],
    ],
    uri: [
      ['https://example.com/a?b=c', 'urn:x:y'],
      ['/relative', 'http: //x', 'a b'],
    ],
    uuid: [
      ['123e4567-e89b-12d3-a456-426614174000'],
      ['123e4567', '123e4567-e89b-12d3-a456-42661417400g'],
    ],
    ipv4: [
      ['127.0.0.1', '255.255.255.255'],
      ['256.0.0.1', '1.2.3', '1.2.3.4.', '1.2.3.4.5'],
    ],
  };
  for (const [format, [good, bad]] of Object.entries(cases)) {
    accepts({ type: 'string', format }, ...good);
    for (const value of bad)
      refuses({ type: 'string', format }, value, `the value must be a ${format}`);
  }
});

test('holds numbers to their bounds and steps', () => {
  accepts({ type: 'number', minimum: 1, maximum: 2 }, 1, 2);
  accepts({ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 }, 1.5);
  accepts({ type: 'number', multipleOf: 0.1 }, 0.3, 0, -0.7);
  accepts({ minimum: 3 }, 'text');
  refuses(
    { type: 'number', minimum: 1, multipleOf: 2 },
    -1,
    'the value must be at least 1',
    'the value must be a multiple of 2',
  );
  refuses({ type: 'number', maximum: 1 }, 2, 'the value must be at most 1');
  refuses({ type: 'number', exclusiveMinimum: 1 }, 1, 'the value must be more than 1');
  refuses({ type: 'number', exclusiveMaximum: 1 }, 1, 'the value must be less than 1');
});

test('checks lists by item and by size', () => {
  const schema = { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 };
  accepts(schema, [1], [1, 2]);
  refuses(schema, [], 'the value must have at least 1 items, has 0');
  refuses(schema, [1, 2, 3], 'the value must have at most 2 items, has 3');
  refuses(schema, [1, 'a'], '1 must be a whole number, is a string');
  accepts({ minItems: 1 }, 'no list');
});

test('checks tuples in all their spellings', () => {
  const pair = [{ type: 'string' }, { type: 'number' }];
  for (const schema of [
    { type: 'array', prefixItems: pair, items: false, minItems: 2 },
    { type: 'array', items: pair, additionalItems: false, minItems: 2 },
    { type: 'array', prefixItems: pair, minItems: 2, maxItems: 2 },
  ] as const) {
    accepts(schema as JsonObject, ['a', 1]);
    refuses(schema as JsonObject, ['a'], 'the value must have at least 2 items, has 1');
    refuses(schema as JsonObject, ['a', 1, 2], 'the value must have at most 2 items, has 3');
    refuses(schema as JsonObject, [1, 1], '0 must be a string, is a number');
  }
  accepts({ type: 'array', prefixItems: pair }, ['a', 1, 'anything']);
  refuses(
    { type: 'array', prefixItems: pair, items: { type: 'null' } },
    ['a', 1, 2],
    '2 must be null, is a number',
  );
});

test('names every problem of an object with its path', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      tags: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
    },
    required: ['name', 'tags'],
    additionalProperties: false,
  };
  accepts(schema, { name: 'a', tags: [{ id: 1, free: true }] });
  refuses(
    schema,
    { tags: [{ id: 1 }, { id: 'x' }], other: 1 },
    'name is missing',
    'tags.1.id must be a whole number, is a string',
    'other is not a known property; known: name, tags',
  );
  refuses(
    { type: 'object', additionalProperties: false },
    { a: 1 },
    'a is not a known property; known: none',
  );
  accepts({ properties: { a: { type: 'string' } } }, 'no object');
});

test('takes a member that is undefined as missing', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: false,
  };
  accepts(schema, { a: undefined, b: undefined });
  refuses({ ...schema, required: ['a'] }, { a: undefined }, 'a is missing');
});

test('checks maps by pattern and by rest', () => {
  const record = { type: 'object', patternProperties: { '^.*$': { type: 'number' } } };
  accepts(record, { a: 1, b: 2 });
  refuses(record, { a: 'x' }, 'a must be a number, is a string');
  const rest = {
    type: 'object',
    properties: { id: { type: 'string' } },
    patternProperties: { '^n': { type: 'number' } },
    additionalProperties: { type: 'boolean' },
  };
  accepts(rest, { id: 'a', n1: 1, other: true });
  refuses(
    rest,
    { n1: 'x', other: 1 },
    'n1 must be a number, is a string',
    'other must be a boolean, is a number',
  );
  accepts({ type: 'object', additionalProperties: true }, { a: 1 });
});

test('asks for required names that the schema does not describe, when it is open', () => {
  refuses({ type: 'object', required: ['a'] }, {}, 'a is missing');
  accepts({ type: 'object', required: ['a'] }, { a: 1 });
});

test('takes the first alternative that fits, and else says why none does', () => {
  const schema = {
    anyOf: [
      { type: 'string' },
      { type: 'object', properties: { a: { type: 'number', default: 1 } } },
      { type: 'null' },
    ],
  };
  accepts(schema, 'x', null);
  expect(checked(schema, {})).toEqual({ value: { a: 1 } });
  refuses(
    {
      type: 'object',
      properties: { x: { anyOf: [{ const: 'a' }, { const: 'b' }, { const: 'b' }] } },
    },
    { x: 'c' },
    'x fits no alternative: the value must be "a"; or the value must be "b"',
  );
});

test('puts defaults in without touching what it was given', () => {
  const schema = {
    type: 'object',
    properties: {
      size: { type: 'integer', default: 10 },
      list: {
        type: 'array',
        items: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
      },
      map: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: { n: { type: 'integer', default: 0 } },
        },
      },
      tags: { type: 'array', default: ['a'] },
    },
    required: ['size'],
  };
  const given = { list: [{}, { on: false }, {}], map: { k: {} } };
  const expected = {
    list: [{ on: true }, { on: false }, { on: true }],
    map: { k: { n: 0 } },
    size: 10,
    tags: ['a'],
  };
  const first = checked(schema, given) as { value: { tags: string[] } };
  expect(first).toEqual({ value: expected });
  expect(given).toEqual({ list: [{}, { on: false }, {}], map: { k: {} } });
  first.value.tags.push('b');
  expect(checked(schema, given)).toEqual({ value: expected });
});

test('answers the very same value when nothing is missing', () => {
  const compiled = compileSchema(
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
    'x',
  );
  const value = { a: ['x'] };
  expect(compiled.ok && compiled.check(value)).toEqual({ ok: true, value });
  const result = compiled.ok ? compiled.check(value) : undefined;
  expect(result?.ok === true && result.value).toBe(value);
});

test('is not fooled by names of the prototype', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"number","default":7},"toString":{"type":"string"}},"required":["toString"],"additionalProperties":false}',
  ) as JsonObject;
  refuses(schema, {}, 'toString is missing');
  refuses(
    schema,
    JSON.parse('{"__proto__":"x","toString":"s"}'),
    '__proto__ must be a number, is a string',
  );
  const completed = checked(schema, { toString: 's' }) as { value: object };
  expect(Object.hasOwn(completed.value, '__proto__')).toBe(true);
  refuses(
    { type: 'object', additionalProperties: false },
    JSON.parse('{"__proto__":1}'),
    '__proto__ is not a known property; known: none',
  );
  refuses(
    { type: 'object', properties: {}, additionalProperties: false },
    { constructor: 1 },
    'constructor is not a known property; known: none',
  );
});

test('reports everything that is wrong with a schema, each at its place', () => {
  expect(
    problemsOf({
      type: 'object',
      properties: {
        a: { oneOf: [] },
        b: { type: 'strnig' },
        c: { type: 'string', minimum: 1 },
        d: { type: 'string', pattern: '(' },
        e: { type: 'string', format: 'phone' },
        f: { enum: [{}] },
        g: { const: [] },
        h: { anyOf: [] },
        i: { type: 'array', items: [{ $ref: '#' }], additionalItems: true },
        j: { type: 'number', multipleOf: 0 },
        k: { type: 'string', maxLength: -1 },
        l: 'text',
        m: {
          type: 'object',
          properties: 1,
          patternProperties: { '(': {} },
          required: 'a',
          additionalProperties: 1,
        },
        n: { type: [], const: undefined },
        o: { type: 'integer', minimum: '1' },
        p: { constructor: 1 },
        q: { type: 'string', pattern: 1 },
        r: { type: 'object', patternProperties: [] },
      },
    }),
  ).toEqual([
    'schema.properties.a.oneOf: the keyword "oneOf" is outside the supported JSON Schema subset.',
    'schema.properties.b.type: is "strnig".',
    'schema.properties.c.minimum: says nothing about the type "string".',
    'schema.properties.d.pattern: is "(".',
    'schema.properties.e.format: is "phone".',
    'schema.properties.f.enum: is [{}].',
    'schema.properties.g.const: is [].',
    'schema.properties.h.anyOf: is [].',
    'schema.properties.i.additionalItems: is true.',
    'schema.properties.i.items[0].$ref: the keyword "$ref" is outside the supported JSON Schema subset.',
    'schema.properties.j.multipleOf: is 0.',
    'schema.properties.k.maxLength: is -1.',
    'schema.properties.l: is a string, not a schema object.',
    'schema.properties.m.properties: is 1.',
    'schema.properties.m.patternProperties: is {"(":{}}.',
    'schema.properties.m.required: is "a".',
    'schema.properties.m.additionalProperties: is 1.',
    'schema.properties.n.type: is [].',
    'schema.properties.o.minimum: is "1".',
    'schema.properties.p.constructor: the keyword "constructor" is outside the supported JSON Schema subset.',
    'schema.properties.q.pattern: is 1.',
    'schema.properties.r.patternProperties: is [].',
  ]);
});

test('tells how to mend a keyword that it does not have', () => {
  const compiled = compileSchema({ allOf: [], uniqueItems: true }, 'schema');
  expect(!compiled.ok && compiled.problems.map(({ mend }) => mend)).toEqual([
    'Merge the members into one object schema.',
    expect.stringContaining('Leave it out, or use: type, enum, const, anyOf'),
  ]);
});

test('refuses a required name that could never be sent', () => {
  expect(
    problemsOf({
      type: 'object',
      properties: { a: {} },
      required: ['a', 'b'],
      additionalProperties: false,
    }),
  ).toEqual([
    'schema.required: names "b", which is not among the properties and so could never be sent.',
  ]);
  expect(
    problemsOf({
      type: 'object',
      required: ['b'],
      patternProperties: { b: {} },
      additionalProperties: false,
    }),
  ).toEqual([]);
});

test('refuses a default that does not fit its own schema', () => {
  expect(
    problemsOf({
      type: 'object',
      properties: { a: { type: 'string', default: 1 }, b: { default: () => 1 } },
    }),
  ).toEqual([
    'schema.properties.a.default: does not fit its own schema: the value must be a string, is a number.',
    expect.stringContaining(
      'schema.properties.b.default: does not fit its own schema: the value is a function',
    ),
  ]);
});

test('refuses a schema that refers to itself or nests without end', () => {
  const self: Record<string, unknown> = { type: 'array' };
  self['items'] = self;
  expect(problemsOf(self)).toEqual(['schema.items: refers to itself.']);
  let deep: JsonObject = {};
  for (let level = 0; level < 100; level += 1) deep = { type: 'array', items: deep };
  expect(problemsOf(deep)).toEqual([expect.stringContaining('nests deeper than 64 levels')]);
});

test('never throws, whatever the schema and the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
      const compiled = compileSchema(schema as JsonObject, 'x');
      if (compiled.ok) compiled.check(value);
    }),
  );
});
