import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { toolCatalogue, toolIdentity } from './catalogue.ts';
import { clientTool, defineTool } from './define-tool.ts';
import { effects } from './effects.ts';
import type { Tool } from './tool.ts';

const named = (name: string, more: object = {}): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () => 1,
    ...more,
  });

test('lists tools in the order of their names, whatever order they came in', () => {
  const tools = [
    named('b'),
    named('a'),
    clientTool({ name: 'c', description: 'C.', input: Type.Object({}) }),
  ];
  const one = toolCatalogue(tools, 'x');
  const other = toolCatalogue([...tools].reverse(), 'x');
  if (!one.ok || !other.ok) throw new Error('no catalogue');
  expect(one.catalogue.names).toEqual(['a', 'b', 'c']);
  expect(other.catalogue.modelTools).toEqual(one.catalogue.modelTools);
  expect(one.catalogue.modelTools[0]).toEqual({
    name: 'a',
    description: 'Does a.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  });
  expect(one.catalogue.tools.map(({ runs }) => runs)).toEqual(['here', 'here', 'client']);
  expect(one.catalogue.get('b')).toBe(tools[0]);
  expect(one.catalogue.get('toString')).toBeUndefined();
});

test('is empty when there are no tools', () => {
  const reading = toolCatalogue([], 'x');
  expect(reading.ok && reading.catalogue.names).toEqual([]);
});

test('names every collision, and what is no tool', () => {
  const reading = toolCatalogue(
    [
      named('a'),
      named('b'),
      named('a'),
      {} as Tool,
      undefined as never,
      { definition: {} } as Tool,
    ],
    'defineAgent("x").tools',
  );
  expect(!reading.ok && reading.problems.map(({ at, seen }) => `${at} ${seen}`)).toEqual([
    'defineAgent("x").tools[2] is a second tool named "a".',
    'defineAgent("x").tools[3] is not a tool.',
    'defineAgent("x").tools[4] is not a tool.',
    'defineAgent("x").tools[5] is not a tool.',
  ]);
});

test('gives a tool an identity that changes with what a stored call relies on', () => {
  const identity = toolIdentity(named('a'));
  expect(identity).toMatch(/^a@[0-9a-f]{16}$/);
  expect(toolIdentity(named('a', { description: 'Says it better.', timeoutMs: 5 }))).toBe(identity);
  expect(toolIdentity(named('a', { input: Type.Object({ x: Type.String() }) }))).not.toBe(identity);
  expect(toolIdentity(named('a', { output: Type.String() }))).not.toBe(identity);
  expect(toolIdentity(named('a', { idempotency: 'idempotent' }))).not.toBe(identity);
});
