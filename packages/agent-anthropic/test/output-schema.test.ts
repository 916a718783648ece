import type { JsonObject } from '@hexagent/agent-core';
import { describe, expect, test } from 'vitest';
import { grammarSchema } from '../src/output-schema.ts';

const told = (keywords: JsonObject, before = ''): string =>
  `${before}Also holds: ${JSON.stringify(keywords)}.`;

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
});

const CASES: readonly (readonly [name: string, schema: JsonObject, expected: JsonObject])[] = [
  [
    'objects are closed, at every depth',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'report',
      title: 'Report',
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'null' } } } },
      },
      required: ['list'],
      additionalProperties: true,
    },
    {
      title: 'Report',
      ...closed({ list: { type: 'array', items: closed({ a: { type: 'null' } }) } }),
      required: ['list'],
    },
  ],
  ['an object without members', { type: 'object' }, closed({})],
  [
    'members alone make an object',
    { properties: { a: { type: 'string' } } },
    closed({ a: { type: 'string' } }),
  ],
  [
    'further members with a schema are told',
    { type: 'object', additionalProperties: { type: 'number' }, minProperties: 1 },
    closed(
      {},
      { description: told({ additionalProperties: { type: 'number' }, minProperties: 1 }) },
    ),
  ],
  [
    'bounds are told behind what was described',
    { type: 'integer', description: 'Stars.', minimum: 1, maximum: 5 },
    { type: 'integer', description: told({ minimum: 1, maximum: 5 }, 'Stars.\n\n') },
  ],
  [
    'formats that are known stay, others are told',
    {
      anyOf: [
        { type: 'string', format: 'uuid' },
        { type: 'string', format: 'colour' },
      ],
    },
    {
      anyOf: [
        { type: 'string', format: 'uuid' },
        { type: 'string', description: told({ format: 'colour' }) },
      ],
    },
  ],
  [
    'lists may need one item, and no more',
    { type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1, maxItems: 3 },
    {
      type: 'array',
      items: { type: 'string', description: told({ pattern: '^a' }) },
      minItems: 1,
      description: told({ maxItems: 3 }),
    },
  ],
  [
    'a larger least, and tuples, are told',
    { type: 'array', minItems: 2, items: [{ type: 'string' }], prefixItems: [true] },
    {
      type: 'array',
      description: told({ minItems: 2, items: [{ type: 'string' }], prefixItems: [true] }),
    },
  ],
  [
    'oneOf is anyOf; of two combinations one is told',
    { oneOf: [{ type: 'string' }, { type: 'null' }], allOf: [true] },
    { anyOf: [{ type: 'string' }, { type: 'null' }], description: told({ allOf: [true] }) },
  ],
  ['allOf stays', { allOf: [{ type: 'string' }, true] }, { allOf: [{ type: 'string' }, true] }],
  [
    'a union of objects',
    { type: 'object', anyOf: [{ properties: { a: { const: 1 } } }] },
    { anyOf: [closed({ a: { const: 1 } })] },
  ],
  [
    'beside members a combination is told',
    { type: 'object', properties: {}, anyOf: [{ required: ['a'] }] },
    closed({}, { description: told({ anyOf: [{ required: ['a'] }] }) }),
  ],
  ['an enumeration needs no type', { type: 'string', enum: ['a', null] }, { enum: ['a', null] }],
  [
    'an enumeration of objects is told',
    { type: 'object', enum: [{ a: 1 }], const: [] },
    closed({}, { description: told({ enum: [{ a: 1 }], const: [] }) }),
  ],
  [
    'several types are closed as each of them would be',
    { type: ['object', 'null'], properties: { a: { type: ['string', 'null'], format: 'date' } } },
    {
      ...closed({ a: { type: ['string', 'null'], format: 'date' } }),
      type: ['object', 'null'],
    },
  ],
  [
    'definitions have one name, and references follow',
    {
      $ref: '#/definitions/Tree',
      definitions: { Tree: { type: 'object', properties: { next: { $ref: '#/$defs/Leaf' } } } },
      $defs: { Leaf: { type: 'string' } },
    },
    {
      $defs: { Tree: closed({ next: { $ref: '#/$defs/Leaf' } }), Leaf: { type: 'string' } },
      $ref: '#/$defs/Tree',
    },
  ],
  [
    'a reference has no room for words but behind a union of one',
    {
      anyOf: [
        { $ref: '#/$defs/A', description: 'An A.', title: 'A' },
        { $ref: '#/$defs/A', description: 'An A.', type: 'string', minLength: 1 },
      ],
    },
    {
      anyOf: [
        { $ref: '#/$defs/A' },
        { anyOf: [{ $ref: '#/$defs/A' }], description: told({ minLength: 1 }, 'An A.\n\n') },
      ],
    },
  ],
  [
    'what says nothing about a value is left out, defaults and examples are told',
    { type: 'string', 'x-sensitive': true, deprecated: true, default: 'a', examples: ['b'] },
    { type: 'string', description: told({ default: 'a', examples: ['b'] }) },
  ],
  ['a schema of anything', {}, {}],
];

describe('a schema for a grammar', () => {
  test.each(CASES)('%s', (_, schema, expected) => {
    const before = JSON.stringify(schema);
    expect(grammarSchema(schema)).toEqual(expected);
    expect(JSON.stringify(schema)).toBe(before);
  });

  test('is one already when it is made again', () => {
    for (const [, schema] of CASES) {
      const once = grammarSchema(schema);
      expect(grammarSchema(once)).toEqual(once);
    }
  });
});
