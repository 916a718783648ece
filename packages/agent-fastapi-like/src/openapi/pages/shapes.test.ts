import { expect, test } from 'vitest';
import { shapesOf, variantsOf } from './shapes.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test('what the roots lead to is told once each, in the order in which it is met', () => {
  const { named } = shapesOf({
    components: {
      schemas: {
        Alone: { type: 'string' },
        Inner: { type: 'string', description: 'It is within.' },
        Event: { anyOf: [{ properties: { one: reference('Inner'), gone: reference('Gone') } }] },
        Envelope: { properties: { event: reference('Event'), same: reference('Inner') } },
      },
    },
  });
  expect(named).toEqual([
    { name: 'Envelope', words: '', schema: expect.anything() },
    { name: 'Inner', words: 'It is within.', schema: expect.anything() },
  ]);
});

test('a shape that is the body of an operation leads to that operation', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const requestBody = { content: { 'application/json': { schema } } };
  const { notation } = shapesOf({
    paths: {
      '/a': {
        get: { operationId: 'read', tags: ['t'] },
        post: { operationId: 'send', tags: ['t'], requestBody },
        parameters: [],
      },
      '/b': null,
    },
  });
  expect(notation({ type: 'object', properties: { input: schema } })).toContain(
    '<span style="--depth:2ch">input?: <a href="../docs#/t/send">body of send</a>;</span>',
  );
  expect(notation(schema)).toBe(
    '<span style="--depth:0ch">{</span><span style="--depth:2ch">a?: string;</span><span style="--depth:0ch">}</span>',
  );
});

test('a document without schemas has no shapes, and what is no union no variants', () => {
  expect(shapesOf({}).named).toEqual([]);
  expect([...variantsOf(undefined)]).toEqual([]);
  expect([...variantsOf({ anyOf: [{ type: 'string' }] }).keys()]).toEqual(['']);
});
