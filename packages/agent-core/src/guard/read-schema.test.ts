import { Type as Sinclair } from '@sinclair/typebox';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { StandardSchemaV1 } from '../base/schema-types.ts';
import { readSchema } from './read-schema.ts';
import { markFields, secret, secretField, sensitive, sensitiveField } from './sensitive.ts';

const read = (schema: object, options?: { closed?: boolean }) => {
  const reading = readSchema(schema, 'x', options);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading;
};

const paths = (schema: object): readonly string[] =>
  read(schema).marks.map(({ path, field }) => `${path.join('.')}:${field.kind}`);

test('finds markers through TypeBox composition, and leaves them out of the schema', () => {
  for (const build of [Type, Sinclair as unknown as typeof Type]) {
    const email = sensitive(build.String(), { category: 'email' });
    const key = secret(build.String());
    const base = build.Object({ email, key: build.Optional(key) });
    const schema = build.Object({
      one: base,
      partial: build.Partial(base),
      picked: build.Pick(base, ['email']),
      list: build.Array(base),
      map: build.Record(build.String(), email),
      tuple: build.Tuple([build.Number(), key]),
      union: build.Union([build.Null(), email]),
    });
    expect(paths(schema)).toEqual([
      'one.email:sensitive',
      'one.key:secret',
      'partial.email:sensitive',
      'partial.key:secret',
      'picked.email:sensitive',
      'list.*.email:sensitive',
      'list.*.key:secret',
      'map.*:sensitive',
      'tuple.1:secret',
      'union:sensitive',
    ]);
    const json = read(schema).schema;
    expect(JSON.stringify(json)).not.toMatch(/sensitive|secret|email@/);
    expect(Reflect.ownKeys((json['properties'] as { one: object }).one)).toEqual([
      'type',
      'required',
      'properties',
    ]);
  }
});

test('keeps what TypeBox knows of a marked type', () => {
  const schema = Type.Object({ a: sensitive(Type.Optional(Type.String()), { category: 'name' }) });
  expect(read(schema).schema['required']).toBeUndefined();
});

test('finds a marker at the root, in maps and under plain JSON Schema', () => {
  expect(paths(sensitive({ type: 'string' }, { category: 'email' }))).toEqual([':sensitive']);
  expect(paths({ type: 'object', additionalProperties: secret({ type: 'string' }) })).toEqual([
    '*:secret',
  ]);
  expect(paths({ type: 'object', additionalProperties: false })).toEqual([]);
  expect(paths({ type: 'array', prefixItems: [secret({ type: 'string' })], items: false })).toEqual(
    ['0:secret'],
  );
});

test('answers a frozen schema and a check', () => {
  const { schema, check, transforms } = read({
    type: 'object',
    properties: { a: { type: 'string' } },
  });
  expect(Object.isFrozen(schema['properties'])).toBe(true);
  expect(check({ a: 1 }).ok).toBe(false);
  expect(check({ a: 'x', more: 1 }).ok).toBe(true);
  expect(transforms).toBe(false);
});

test('closes objects when it is asked to, the root in any case', () => {
  expect(
    read({ type: 'object', properties: {} }, { closed: true }).schema['additionalProperties'],
  ).toBe(false);
  expect(read({ type: 'object' }, { closed: true }).schema['additionalProperties']).toBe(false);
  expect(
    read({ type: 'object', additionalProperties: true }, { closed: true }).schema[
      'additionalProperties'
    ],
  ).toBe(true);
  expect(read({ type: 'string' }, { closed: true }).schema).toEqual({ type: 'string' });
});

const standard = (jsonSchema: object): StandardSchemaV1 =>
  ({
    '~standard': {
      version: 1,
      vendor: 'acme',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => jsonSchema },
    },
  }) as StandardSchemaV1;

test('takes a Standard Schema at its word, whatever its JSON Schema uses', () => {
  const schema = {
    type: 'object',
    allOf: [{ properties: { a: { oneOf: [{ type: 'string' }] } } }],
  };
  const reading = read(standard(schema));
  expect(reading.schema).toEqual(schema);
  expect(reading.transforms).toBe(true);
  expect(reading.check(1)).toEqual({ ok: true, value: 1 });
});

test('marks fields of any schema from outside, and keeps the schema usable', () => {
  const zodLike = Object.assign(
    standard({
      type: 'object',
      properties: { user: { type: 'object', properties: { email: {} } } },
    }),
    { parse: () => 'parsed' },
  );
  const marked = markFields(zodLike, { 'user.email': sensitiveField({ category: 'email' }) });
  expect(marked.parse()).toBe('parsed');
  expect(paths(marked)).toEqual(['user.email:sensitive']);
  const plain = markFields(
    Type.Object({ list: Type.Array(Type.String()), pair: Type.Tuple([Type.String()]) }),
    {
      'list.*': secretField(),
      'pair.0': secretField(),
      'list.3': secretField(),
      '': sensitiveField({ category: 'internal' }),
    },
  );
  expect(paths(plain)).toEqual(['list.*:secret', 'pair.0:secret', 'list.3:secret', ':sensitive']);
});

test('refuses a mark for a field that is not there', () => {
  const fields = {
    'user.mail': secretField(),
    'user.name.first': secretField(),
    'flag.x': secretField(),
  };
  const json = {
    type: 'object',
    properties: {
      user: { type: 'object', properties: { name: { anyOf: [{ type: 'string' }] } } },
      flag: true,
    },
  };
  const reading = readSchema(markFields(standard(json), fields), 'x');
  expect(!reading.ok && reading.problems.map(({ seen }) => seen)).toEqual([
    'markFields names "user.mail", which the schema does not have.',
    'markFields names "user.name.first", which the schema does not have.',
    'markFields names "flag.x", which the schema does not have.',
  ]);
  const both = readSchema(markFields({ type: 'strnig' }, { a: secretField() }), 'x');
  expect(!both.ok && both.problems.length).toBe(2);
  const one = readSchema(markFields({ type: 'string' }, { a: secretField() }), 'x');
  expect(!one.ok && one.problems.length).toBe(1);
});

test('passes on what is wrong with a schema', () => {
  expect(readSchema({ type: 'strnig' }, 'x').ok).toBe(false);
  expect(readSchema(7 as never, 'x').ok).toBe(false);
});

test('refuses a mark that says what there is not, all at once', () => {
  const wrong = { category: 'shoe-size', masking: 'rot13', redaction: 'burn', label: ' ' } as never;
  expect(() => sensitive({ type: 'string' }, wrong)).toThrow(
    /4 problems:[\s\S]*"shoe-size"[\s\S]*"rot13"[\s\S]*"burn"[\s\S]*blank/,
  );
  expect(() => secret({ type: 'string' }, { redaction: 'burn' as never })).toThrow('"burn"');
});

test('refuses to put a marker where it would be lost', () => {
  expect(() => sensitive(standard({}), { category: 'email' })).toThrow('markFields');
  expect(() => secret(standard({}))).toThrow('secretField');
});

test('gives a personal category the sensitivity of personal data', () => {
  expect(sensitiveField({ category: 'phone', label: 'home' })).toEqual({
    kind: 'sensitive',
    category: 'phone',
    sensitivity: 'pii',
    masking: 'redact',
    redaction: 'redact',
    label: 'home',
  });
  expect(sensitiveField({ category: 'confidential' }).sensitivity).toBe('confidential');
});
