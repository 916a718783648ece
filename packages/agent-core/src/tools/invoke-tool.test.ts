import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { AgentError } from '../base/error.ts';
import type { StandardSchemaV1 } from '../base/schema-types.ts';
import { defineTool } from './define-tool.ts';
import { detachedContext } from './detached-context.ts';
import { effects } from './effects.ts';
import { invokeTool, resultParts, resumeTool, type ToolOutcome } from './invoke-tool.ts';
import { suspend } from './suspend.ts';
import type { Tool } from './tool.ts';

const context = detachedContext('test', { deps: {} });

const toolOf = (execute: () => unknown, more: object = {}): Tool =>
  defineTool({
    name: 'x',
    description: 'X.',
    input: Type.Object({}),
    effects: effects.readOnly(),
    execute,
    ...more,
  }) as Tool;

const errorOf = async (outcome: ToolOutcome | Promise<ToolOutcome>): Promise<string> => {
  const settled = await outcome;
  return settled.kind === 'error'
    ? `${settled.error.code}: ${settled.error.message}`
    : settled.kind;
};

test('answers a synchronous tool without a promise, and an asynchronous one with one', async () => {
  expect(
    invokeTool(
      toolOf(() => 1),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: 1 });
  const later = invokeTool(
    toolOf(async () => 2),
    {},
    context,
  );
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toEqual({ kind: 'ok', value: 2 });
});

test('awaits anything that can be awaited', async () => {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what this is about
  const thenable = { then: (resolve: (value: number) => void) => resolve(3) };
  expect(
    await invokeTool(
      toolOf(() => thenable),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: 3 });
});

test('makes JSON of what a tool gives back', async () => {
  expect(
    invokeTool(
      toolOf(() => ({ at: new Date(0), none: undefined })),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: { at: '1970-01-01T00:00:00.000Z' } });
  expect(
    invokeTool(
      toolOf(() => undefined),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: null });
  expect(
    await errorOf(
      invokeTool(
        toolOf(() => 1n),
        {},
        context,
      ),
    ),
  ).toBe(
    'TOOL_OUTPUT_INVALID: The result of "x" cannot be used: the value is a bigint, which JSON does not have.',
  );
});

test('holds a result against the declared output', async () => {
  const output = Type.Object({ id: Type.String(), n: Type.Number({ default: 0 }) });
  expect(
    invokeTool(
      toolOf(() => ({ id: 'a' }), { output }),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: { id: 'a', n: 0 } });
  expect(
    invokeTool(
      toolOf(() => ({ id: 'a', n: 1 }), { output }),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: { id: 'a', n: 1 } });
  expect(
    await errorOf(
      invokeTool(
        toolOf(() => ({ id: 1 }), { output }),
        {},
        context,
      ),
    ),
  ).toBe(
    'TOOL_OUTPUT_INVALID: The result of "x" cannot be used: id must be a string, is a number.',
  );
});

test('takes what a schema library makes of a result, as long as it is JSON', async () => {
  const standard = (validate: (value: unknown) => unknown): object => ({
    output: {
      '~standard': { version: 1, vendor: 'acme', validate, jsonSchema: { input: () => ({}) } },
    } as unknown as StandardSchemaV1,
  });
  expect(
    invokeTool(
      toolOf(
        () => 1,
        standard(() => ({ value: new Date(0) })),
      ),
      {},
      context,
    ),
  ).toEqual({ kind: 'ok', value: '1970-01-01T00:00:00.000Z' });
  expect(
    await errorOf(
      invokeTool(
        toolOf(
          () => 1,
          standard(() => ({ value: 1n })),
        ),
        {},
        context,
      ),
    ),
  ).toContain('TOOL_OUTPUT_INVALID');
  expect(
    await errorOf(
      invokeTool(
        toolOf(
          () => 1,
          standard(async () => ({ value: 1 })),
        ),
        {},
        context,
      ),
    ),
  ).toContain('DEFINITION_INVALID');
});

test('turns whatever a tool throws into an error', async () => {
  const failing = (error: unknown): Tool =>
    toolOf(() => {
      throw error;
    });
  expect(await errorOf(invokeTool(failing(new Error('disk full.')), {}, context))).toBe(
    'TOOL_FAILED: The tool "x" failed: disk full.',
  );
  expect(await errorOf(invokeTool(failing('plain text'), {}, context))).toBe(
    'TOOL_FAILED: The tool "x" failed: plain text.',
  );
  for (const silent of [undefined, new Error(''), { code: 1 }]) {
    expect(await errorOf(invokeTool(failing(silent), {}, context))).toContain(
      'it threw something that says nothing',
    );
  }
  expect(
    await errorOf(
      invokeTool(
        toolOf(() => Promise.reject(new Error('late'))),
        {},
        context,
      ),
    ),
  ).toBe('TOOL_FAILED: The tool "x" failed: late.');
  const own = new AgentError('TOOL_TIMEOUT', { message: 'slow', mend: 'wait' });
  const outcome = await invokeTool(failing(own), {}, context);
  expect(outcome.kind === 'error' && outcome.error).toBe(own);
});

test('keeps the cause of a failure', async () => {
  const cause = new Error('disk full');
  const outcome = invokeTool(
    toolOf(() => {
      throw cause;
    }),
    {},
    context,
  ) as ToolOutcome;
  expect(outcome.kind === 'error' && outcome.error.cause).toBe(cause);
});

test('hands out what a tool waits for', async () => {
  const wait = { kind: 'event', name: 'paid', carry: { id: 1 } } as const;
  expect(
    invokeTool(
      toolOf(() => suspend(wait)),
      {},
      context,
    ),
  ).toEqual({ kind: 'suspended', wait });
  expect(
    await invokeTool(
      toolOf(async () => suspend(wait)),
      {},
      context,
    ),
  ).toEqual({ kind: 'suspended', wait });
});

test('goes on in resume, with what was kept and how the wait ended', async () => {
  const tool = toolOf(() => suspend({ kind: 'event', name: 'paid' }), {
    resume: (
      _input: object,
      { carry, resolution }: { carry: unknown; resolution: { kind: string } },
    ) => ({ carry, kind: resolution.kind }),
  });
  expect(
    resumeTool(tool, {}, { carried: { carry: 7, resolution: { kind: 'expired' } }, context }),
  ).toEqual({ kind: 'ok', value: { carry: 7, kind: 'expired' } });
});

test('takes the answer for the result of a tool that has no resume', async () => {
  const tool = toolOf(() => suspend({ kind: 'event', name: 'paid' }), { output: Type.String() });
  const resumed = (resolution: Parameters<typeof resumeTool>[2]['carried']['resolution']) =>
    resumeTool(tool, {}, { carried: { carry: null, resolution }, context });
  expect(resumed({ kind: 'resolved', value: 'yes' })).toEqual({ kind: 'ok', value: 'yes' });
  expect(await errorOf(resumed({ kind: 'resolved', value: 1 }))).toContain('TOOL_OUTPUT_INVALID');
  expect(await errorOf(resumed({ kind: 'expired' }))).toContain(
    'what it waited for did not come in time',
  );
  expect(await errorOf(resumed({ kind: 'declined' }))).toContain(
    'what it waited for was declined.',
  );
  expect(await errorOf(resumed({ kind: 'declined', reason: 'no' }))).toContain(
    'what it waited for was declined: no.',
  );
});

test('writes a result for the model', () => {
  expect(resultParts('text')).toEqual([{ type: 'text', text: 'text' }]);
  expect(resultParts({ a: 1 })).toEqual([{ type: 'data', data: { a: 1 } }]);
  expect(resultParts([1])).toEqual([{ type: 'data', data: [1] }]);
  expect(resultParts(null)).toEqual([{ type: 'data', data: null }]);
});
