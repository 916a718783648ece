import { isJsonObject, type JsonValue } from '@hexagent/agent-core';
import { expect, test } from 'vitest';
import { typeNotation } from './type-notation.ts';

const notation = (schema: JsonValue): string =>
  typeNotation(schema, (one) =>
    isJsonObject(one) && one['$ref'] !== undefined ? '<a>Named</a>' : undefined,
  );

test('writes a schema down as a type', () => {
  for (const [schema, written] of [
    [true, 'unknown'],
    [{}, 'unknown'],
    [{ type: ['string', 'null'] }, 'unknown'],
    [{ type: 'string' }, 'string'],
    [{ type: 'integer', minimum: 0 }, 'number'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'object' }, 'Record&lt;string, unknown&gt;'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record&lt;string, string&gt;'],
    [{ const: '<a>' }, '<b>&quot;&lt;a&gt;&quot;</b>'],
    [{ enum: ['x', 1] }, '<b>&quot;x&quot;</b> | <b>1</b>'],
    [{ type: 'array', items: { $ref: '#' } }, '<a>Named</a>[]'],
    [
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      '(string | null)[]',
    ],
    [{ type: 'object', properties: {} }, '{}'],
  ] as const)
    expect([schema, notation(schema)]).toEqual([schema, written]);
});

test('says of each field whether it may be left out, and what is said of it', () => {
  const schema = {
    type: 'object',
    required: ['a', 'x-y'],
    properties: {
      a: { type: 'string', description: 'One & more.' },
      'x-y': { type: 'object', properties: { b: { type: 'boolean' } } },
    },
  };
  expect(notation(schema)).toBe(`{
  a: string; <i>// One &amp; more.</i>
  &quot;x-y&quot;: {
    b?: boolean;
  };
}`);
});
