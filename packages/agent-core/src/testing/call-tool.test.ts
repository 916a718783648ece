import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { definePort } from '../base/port.ts';
import { defineTool } from '../tools/define-tool.ts';
import { effects } from '../tools/effects.ts';
import { suspend } from '../tools/suspend.ts';
import { callTool } from './call-tool.ts';

interface Shop {
  price(id: string): number;
}
const Shop = definePort<Shop>('shop');

const price = defineTool({
  name: 'shop.price',
  description: 'Tells a price.',
  input: Type.Object({
    id: Type.String(),
    currency: Type.Optional(Type.String({ default: 'EUR' })),
  }),
  output: Type.Object({ text: Type.String() }),
  needs: { shop: Shop },
  effects: effects.readOnly(),
  execute: ({ id, currency }, tool) => {
    tool.progress('looking');
    tool.progress('found', { id });
    tool.artifact({ id: 'receipt', parts: [{ type: 'text', text: id }] });
    tool.state.patch([{ op: 'add', path: '/seen', value: id }]);
    return { text: `${tool.deps.shop.price(id)} ${currency} ${JSON.stringify(tool.state.get())}` };
  },
});
const deps = { shop: { price: () => 12 } };

test('runs a tool as a run would, and collects what it shows beside its result', async () => {
  expect(await callTool(price, { id: 'a' }, { deps })).toEqual({
    value: { text: '12 EUR {}' },
    wait: undefined,
    progress: [{ message: 'looking' }, { message: 'found', detail: { id: 'a' } }],
    artifacts: [{ id: 'receipt', parts: [{ type: 'text', text: 'a' }] }],
    patches: [{ op: 'add', path: '/seen', value: 'a' }],
  });
});

test('takes a stand-in for any part of the context', async () => {
  const called = await callTool(
    price,
    { id: 'a' },
    { deps, state: { get: () => ({ n: 1 }), patch: () => undefined } },
  );
  expect(called.value).toEqual({ text: '12 EUR {"n":1}' });
  expect(called.patches).toEqual([]);
});

test('says what the input or the test lacks', async () => {
  await expect(callTool(price, { id: 1 } as never, { deps })).rejects.toMatchObject({
    code: 'TOOL_INPUT_INVALID',
  });
  await expect(callTool(price, { id: 'a' })).rejects.toThrow(
    'has no "shop", which "shop.price" needs',
  );
});

test('throws what the tool fails with, and hands out what it waits for', async () => {
  const base = {
    name: 'x',
    description: 'X.',
    input: Type.Object({}),
    effects: effects.readOnly(),
  };
  const failing = defineTool({
    ...base,
    execute: () => {
      throw new Error('no');
    },
  });
  await expect(callTool(failing, {})).rejects.toMatchObject({ code: 'TOOL_FAILED' });
  const waiting = defineTool({ ...base, execute: () => suspend({ kind: 'event', name: 'paid' }) });
  expect(await callTool(waiting, {})).toMatchObject({
    value: undefined,
    wait: { kind: 'event', name: 'paid' },
  });
});
