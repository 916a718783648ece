import { defineTool, effects, type JsonObject, type JsonValue } from '@hexagent/agent-core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { strictSchema } from '../src/strict/strict-schema.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');

const string: fc.Arbitrary<JsonObject> = fc.constantFrom(
  { type: 'string' },
  { type: 'string', pattern: '^[xy]+$' },
  { type: 'string', enum: ['x', 'z'] },
  { type: 'string', const: 'x' },
  { type: ['string', 'null'] },
  { enum: ['x', 1, null] },
);
const number: fc.Arbitrary<JsonObject> = fc.constantFrom(
  { type: 'integer' },
  { type: 'number', minimum: -2, maximum: 7.5 },
  { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
  { type: ['integer', 'boolean'] },
  { type: 'null' },
);

/** Schemas of core's dialect that strict mode can enforce as a whole. */
const { schema, object } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    string,
    number,
    fc.constant<JsonObject>({ type: 'boolean' }),
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      maxItems: fc.constantFrom(2, 3),
    }),
    tie('object'),
    fc
      .array(tie('schema'), { minLength: 1, maxLength: 3 })
      .map((anyOf): JsonObject => ({ anyOf, description: 'One of them.' })),
  ),
  object: fc
    .tuple(
      fc.dictionary(name, fc.tuple(tie('schema'), fc.boolean()), { maxKeys: 4 }),
      fc.constantFrom<readonly string[]>(['object'], ['object', 'null']),
    )
    .map(([members, types]): JsonObject => {
      const entries = Object.entries(members);
      return {
        type: types.length === 1 ? 'object' : types,
        properties: Object.fromEntries(entries.map(([key, [property]]) => [key, property])),
        required: entries.filter(([, [, isRequired]]) => isRequired).map(([key]) => key),
        additionalProperties: false,
      };
    }),
}));

/** Values that a strict schema lets through: what the model may write. */
function written(strict: JsonObject): fc.Arbitrary<JsonValue> {
  const { anyOf, type, enum: values, const: only } = strict;
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((branch: JsonObject) => written(branch)));
  if (only !== undefined) return fc.constant(only);
  if (Array.isArray(values)) return fc.constantFrom(...(values as readonly JsonValue[]));
  return fc.oneof(...[type].flat().map((one) => ofType(String(one), strict)));
}

function ofType(type: string, strict: JsonObject): fc.Arbitrary<JsonValue> {
  switch (type) {
    case 'string':
      return strict['pattern'] === undefined
        ? fc.string({ maxLength: 4 })
        : fc.constantFrom('x', 'xy', 'yyx');
    case 'integer':
      return fc.integer({ min: -20, max: 20 });
    case 'number':
      return fc
        .integer({ min: strict['minimum'] === undefined ? 1 : -4, max: 15 })
        .map((n) => n / 2);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(written(strict['items'] as JsonObject), {
        maxLength: Number(strict['maxItems']),
      });
    default:
      return fc.record(
        Object.fromEntries(
          Object.entries(strict['properties'] as Record<string, JsonObject>).map(
            ([key, property]) => [key, written(property)],
          ),
        ),
      );
  }
}

/** What core says of an input of that schema. */
function problemsOf(input: JsonObject, value: JsonValue): readonly string[] {
  const tool = defineTool({
    name: 'probe',
    description: 'Is never run.',
    input,
    effects: effects.readOnly(),
    execute: () => null,
  });
  const bound = tool.definition.bindInput(value as JsonObject);
  return bound.ok ? [] : bound.problems;
}

/** A schema as the input of a tool, with what strict mode makes of it and a value that it lets through. */
const cases = fc
  .dictionary(name, fc.oneof(schema, object), { minKeys: 1, maxKeys: 4 })
  .chain((properties) =>
    fc.subarray(Object.keys(properties)).map(
      (required): JsonObject => ({
        type: 'object',
        properties,
        required,
        additionalProperties: false,
      }),
    ),
  )
  .chain((original) => {
    const strict = strictSchema(original);
    if (strict === undefined) throw new Error(`not strict: ${JSON.stringify(original)}`);
    return written(strict.schema).map((value) => ({ original, strict, value }));
  });

test('whatever a strict schema lets through fits the original after the way back', () => {
  fc.assert(
    fc.property(cases, ({ original, strict, value }) => {
      expect(strict.loosened).toEqual([]);
      expect(problemsOf(original, strict.restore(value))).toEqual([]);
    }),
    { numRuns: 1500, seed: 5 },
  );
});

test('where no way back is needed, the value fits as it is', () => {
  let seen = 0;
  fc.assert(
    fc.property(cases, ({ original, strict, value }) => {
      if (strict.isChanged) return;
      seen += 1;
      expect(strict.restore(value)).toEqual(value);
      expect(problemsOf(original, value)).toEqual([]);
    }),
    { numRuns: 1500, seed: 7 },
  );
  expect(seen).toBeGreaterThan(10);
});

test('every object of a strict schema is closed and requires all that it has', () => {
  const check = (node: JsonValue): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      node.forEach(check);
      return;
    }
    const { properties, required, additionalProperties } = node as JsonObject;
    if (properties !== undefined) {
      expect(additionalProperties).toBe(false);
      expect(required).toEqual(Object.keys(properties as JsonObject));
    }
    Object.values(node).forEach(check);
  };
  fc.assert(
    fc.property(cases, ({ strict }) => check(strict.schema)),
    { numRuns: 300, seed: 11 },
  );
});
