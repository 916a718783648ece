import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { definePort } from '../base/port.ts';
import { defineTool } from './define-tool.ts';
import { toolDispatcher } from './dispatcher.ts';
import { effects } from './effects.ts';
import type { Tool } from './tool.ts';

interface Greeter {
  greet(name: string): string;
}
const Greeter = definePort<Greeter>('greeter');

const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: Type.Object({ name: Type.String() }),
  needs: { greeter: Greeter },
  effects: effects.readOnly(),
  execute: async ({ name }, { deps, principal }) =>
    `${deps.greeter.greet(name)} from ${principal.subject}`,
});
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }),
  positional: ['a', 'b'],
  effects: effects.readOnly(),
  permissions: ['math'],
  execute: ({ a, b }) => a + b,
});
const deps = { greeter: { greet: (name: string) => `hello ${name}` } };
const local = { scope: { tenantId: 't' }, subject: 'ann', roles: [], permissions: ['math'] };

test('runs synchronous and asynchronous tools by name', async () => {
  const dispatcher = toolDispatcher({ tools: [greet, add], deps });
  expect(dispatcher.names).toEqual(['add', 'greet']);
  expect(await dispatcher.dispatch({ name: 'greet', arguments: { name: 'Bo' } })).toEqual({
    kind: 'ok',
    value: 'hello Bo from local',
  });
  expect(
    await dispatcher.dispatch({ name: 'add', arguments: '{"args":[1,2]}' }, { principal: local }),
  ).toEqual({ kind: 'ok', value: 3 });
});

test('throws what the caller got wrong, and runs nothing', async () => {
  const dispatcher = toolDispatcher({ tools: [greet, add], deps });
  await expect(dispatcher.dispatch({ name: 'sub', arguments: {} })).rejects.toMatchObject({
    code: 'TOOL_UNKNOWN',
    mend: expect.stringContaining('add, greet'),
  });
  await expect(dispatcher.dispatch({ name: 'greet', arguments: {} })).rejects.toMatchObject({
    code: 'TOOL_INPUT_INVALID',
    message: expect.stringContaining('name is missing'),
  });
  await expect(dispatcher.dispatch({ name: 'greet', arguments: '{"name":' })).rejects.toMatchObject(
    { code: 'TOOL_INPUT_INVALID', message: expect.stringContaining('not complete, valid JSON') },
  );
  await expect(
    dispatcher.dispatch({ name: 'add', arguments: { a: 1, b: 2 } }),
  ).rejects.toMatchObject({
    code: 'TOOL_PERMISSION_DENIED',
    message: expect.stringContaining('math'),
  });
});

test('answers with what the tool did', async () => {
  const failing = defineTool({
    name: 'fail',
    description: 'Fails.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: () => {
      throw new Error('no');
    },
  });
  const outcome = await toolDispatcher({ tools: [failing] }).dispatch({
    name: 'fail',
    arguments: {},
  });
  expect(outcome).toMatchObject({ kind: 'error', error: { code: 'TOOL_FAILED' } });
});

test('refuses to start without what its tools need, all at once', () => {
  expect(() => toolDispatcher({ tools: [greet, add] })).toThrow(
    'has no "greeter", which the tool "greet" needs',
  );
  expect(() => toolDispatcher({ tools: [add, add, {} as Tool] })).toThrow('2 problems');
});

test('gives a tool a context of its own', async () => {
  const seen: unknown[] = [];
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute: (_input, tool) => {
      tool.progress('half');
      tool.artifact({ id: 'a', parts: [] });
      tool.state.patch([{ op: 'add', path: '/x', value: 1 }]);
      seen.push(
        tool.state.get(),
        tool.scope,
        tool.runId === tool.rootRunId,
        tool.call.attempt,
        tool.signal.aborted,
        tool.step,
      );
    },
  });
  await toolDispatcher({ tools: [look] }).dispatch({ name: 'look', arguments: {} }, { step: 4 });
  expect(seen).toEqual([{}, { tenantId: 'local' }, true, 1, false, 4]);
});
