import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { defineTool } from './define-tool.ts';
import { effects } from './effects.ts';
import { checkedResult } from './invoke-tool.ts';
import { suspend } from './suspend.ts';

const { definition } = defineTool({
  name: 'receipt',
  description: 'Answers a receipt.',
  input: Type.Object({}),
  output: Type.Object({ id: Type.String() }),
  effects: effects.readOnly(),
  execute: () => ({ id: 'a' }),
});

test('a result from elsewhere is held to what the tool declares, and is never one to wait for', () => {
  expect(checkedResult(definition, { id: 'a' })).toEqual({ ok: true, value: { id: 'a' } });
  expect(checkedResult(definition, { id: 1 })).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('id')],
  });
  expect(checkedResult(definition, suspend({ kind: 'event', name: 'paid' }))).toEqual({
    ok: false,
    problems: ['suspended'],
  });
});
