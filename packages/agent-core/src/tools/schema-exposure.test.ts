import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { JsonObject } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { secret, secretField, sensitive } from '../guard/sensitive.ts';
import { defineTool } from './define-tool.ts';
import { effects } from './effects.ts';
import {
  inputSchemaFor,
  outputSchemaFor,
  SENSITIVE_KEYWORD,
  withSensitiveKeyword,
} from './schema-exposure.ts';

const visible = { ...CONTEXT_EXPOSURE, includeSensitiveSchemaMetadata: true };
const email = sensitive(Type.String(), { category: 'email', label: 'contact' });

const tool = defineTool({
  name: 'customer.find',
  description: 'Finds a customer.',
  input: Type.Object({ email, token: secret(Type.String()), plain: Type.String() }),
  output: Type.Array(Type.Object({ email })),
  effects: effects.readOnly(),
  execute: () => [],
});

test('answers the model-facing schema itself where nothing is to be added', () => {
  expect(inputSchemaFor(tool)).toBe(tool.definition.inputSchema);
  expect(outputSchemaFor(tool)).toBe(tool.definition.outputSchema);
  expect(JSON.stringify(tool.definition.inputSchema)).not.toContain(SENSITIVE_KEYWORD);
  const plain = defineTool({
    name: 'x',
    description: 'X.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () => 1,
  });
  expect(inputSchemaFor(plain, visible)).toBe(plain.definition.inputSchema);
  expect(outputSchemaFor(plain, visible)).toBeUndefined();
});

test('gives a copy that names the marked fields', () => {
  const mark = {
    kind: 'sensitive',
    category: 'email',
    sensitivity: 'pii',
    masking: 'redact',
    redaction: 'redact',
    label: 'contact',
  };
  expect(inputSchemaFor(tool, visible)['properties']).toEqual({
    email: { type: 'string', [SENSITIVE_KEYWORD]: [mark] },
    token: {
      type: 'string',
      [SENSITIVE_KEYWORD]: [{ kind: 'secret', sensitivity: 'secret', redaction: 'reference-only' }],
    },
    plain: { type: 'string' },
  });
  expect(outputSchemaFor(tool, visible)).toMatchObject({
    items: { properties: { email: { [SENSITIVE_KEYWORD]: [mark] } } },
  });
  expect(JSON.stringify(tool.definition.inputSchema)).not.toContain(SENSITIVE_KEYWORD);
});

const field = secretField();
const entry = { [SENSITIVE_KEYWORD]: [{ ...field }] };

test('appends when it is applied again', () => {
  const once = withSensitiveKeyword({ type: 'string' }, [{ path: [], field }]);
  expect(once).toEqual({ type: 'string', ...entry });
  expect(withSensitiveKeyword(once, [{ path: [], field }])[SENSITIVE_KEYWORD]).toHaveLength(2);
});

test('reaches maps, tuples and alternatives', () => {
  const at = (schema: JsonObject, ...path: readonly string[]): JsonObject =>
    withSensitiveKeyword(schema, [{ path, field }]);
  expect(at({ patternProperties: { '^.*$': {} } }, '*')).toEqual({
    patternProperties: { '^.*$': entry },
  });
  expect(at({ additionalProperties: {} }, '*')).toEqual({ additionalProperties: entry });
  expect(at({ items: [{}, {}] }, '1')).toEqual({ items: [{}, entry] });
  expect(at({ prefixItems: [{}], items: {} }, '0')).toEqual({ prefixItems: [entry], items: {} });
  expect(at({ anyOf: [{ type: 'null' }, { properties: { a: {} } }] }, 'a')).toEqual({
    anyOf: [{ type: 'null' }, { properties: { a: entry } }],
  });
});

test('leaves out a path that the schema does not have', () => {
  const schema: JsonObject = {
    description: 'x',
    properties: { a: { type: 'string' }, odd: true },
    patternProperties: { x: {} },
    additionalProperties: false,
    items: {},
    prefixItems: 1,
    anyOf: 1,
  };
  for (const path of [['b'], ['a', 'b'], ['odd', 'x'], ['toString']]) {
    expect(withSensitiveKeyword(schema, [{ path, field }])).toBe(schema);
  }
  expect(
    withSensitiveKeyword({ additionalProperties: false, items: false }, [{ path: ['*'], field }]),
  ).toEqual({ additionalProperties: false, items: false });
});
