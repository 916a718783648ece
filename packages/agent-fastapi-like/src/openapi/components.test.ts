import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { createComponents } from './components.ts';

test('a schema with a title is one component, wherever it stands', () => {
  const components = createComponents();
  const Inner = Type.Object({ a: Type.String() }, { title: 'Inner' });
  const Outer = Type.Object(
    { one: Inner, many: Type.Optional(Type.Array(Inner)) },
    { title: 'Outer' },
  );
  expect(components.reference(Outer)).toEqual({ $ref: '#/components/schemas/Outer' });
  expect(components.reference(Inner)).toEqual({ $ref: '#/components/schemas/Inner' });
  expect(Object.keys(components.schemas)).toEqual(['Inner', 'Outer']);
  expect(components.schemas).toHaveProperty('Outer.properties.many.items', {
    $ref: '#/components/schemas/Inner',
  });
});

test('another shape of the same title, and a title that is no name, stay where they are', () => {
  const components = createComponents();
  components.reference({ title: 'Same', type: 'string' });
  expect(components.reference({ title: 'Same', type: 'number' })).toEqual({
    title: 'Same',
    type: 'number',
  });
  expect(components.reference({ title: 'Two words', type: 'number' })).toEqual({
    title: 'Two words',
    type: 'number',
  });
});

test('a property that is called title is no title', () => {
  const components = createComponents();
  expect(components.reference(Type.Object({ title: Type.String() }))).toMatchObject({
    properties: { title: { type: 'string' } },
  });
  expect(components.schemas).toEqual({});
});

test('a schema that is no object allows anything', () => {
  expect(createComponents().reference([true])).toEqual({});
});
