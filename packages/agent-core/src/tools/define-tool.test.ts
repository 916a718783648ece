import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { definePort } from '../base/port.ts';
import type { StandardSchemaV1 } from '../base/schema-types.ts';
import { sensitive } from '../guard/sensitive.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import { clientTool, defineTool } from './define-tool.ts';
import { detachedContext } from './detached-context.ts';
import { effects } from './effects.ts';

const context: ToolContext<never> = detachedContext('test', { deps: {} }) as ToolContext<never>;

const add = defineTool({
  name: 'math.add',
  description: 'Adds two numbers.',
  input: Type.Object({ a: Type.Number(), b: Type.Optional(Type.Number({ default: 1 })) }),
  effects: effects.readOnly(),
  execute: ({ a, b }) => a + (b ?? 0),
});

test('derives everything that the framework reads', () => {
  const { bindInput, inputSchema, ...definition } = add.definition;
  expect(definition).toEqual({
    name: 'math.add',
    description: 'Adds two numbers.',
    inputMarks: [],
    outputMarks: [],
    effects: { access: 'read', externality: 'local', destructive: false, network: false },
    idempotency: 'unknown',
    risk: ['read'],
    approval: 'derived',
    requiresApproval: false,
    resume: 'retry',
    onReject: 'return',
    onError: 'return',
    permissions: [],
    evidence: 'none',
    concurrent: false,
    maxResultBytes: 65_536,
  });
  expect(inputSchema).toEqual({
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } },
    required: ['a'],
    additionalProperties: false,
  });
  expect(bindInput({ a: 1 })).toEqual({ ok: true, input: { a: 1, b: 1 } });
  expect(bindInput({ a: 1, c: 1 })).toEqual({
    ok: false,
    problems: ['c is not a known property; known: a, b'],
  });
  expect([add.name, add.runs, add.needs, Object.isFrozen(add)]).toEqual([
    'math.add',
    'here',
    {},
    true,
  ]);
  expect(add.execute({ a: 1, b: 2 }, context)).toBe(3);
});

test('keeps what the author says', () => {
  const Clock = definePort<{ now(): number }>('clock');
  const tool = defineTool({
    name: 'order',
    description: 'Orders.',
    input: Type.Object({ who: sensitive(Type.String(), { category: 'name' }) }),
    output: Type.Object({ email: sensitive(Type.String(), { category: 'email' }) }),
    needs: { clock: Clock },
    effects: { access: 'write', externality: 'external', destructive: false, network: true },
    idempotency: 'conditionally-idempotent',
    approval: 'not-required',
    onReject: 'fail',
    onError: 'fail',
    permissions: ['orders.write'],
    evidence: 'summary',
    concurrent: true,
    positional: ['who'],
    timeoutMs: 1000,
    maxResultBytes: 10,
    execute: ({ who }, { deps }) => ({ email: `${who}@${deps.clock.now()}` }),
    resume: (input, { carry }) => [input.who, carry],
    reconcile: async () => ({ kind: 'unknown' }),
  });
  const { definition } = tool;
  expect(definition).toMatchObject({
    approval: 'not-required',
    requiresApproval: false,
    resume: 'probe',
    onReject: 'fail',
    onError: 'fail',
    permissions: ['orders.write'],
    evidence: 'summary',
    concurrent: true,
    positional: ['who'],
    timeoutMs: 1000,
    maxResultBytes: 10,
    risk: ['write', 'side-effect', 'network'],
  });
  expect(definition.inputMarks.map(({ path }) => path)).toEqual([['who']]);
  expect(definition.outputMarks.map(({ path }) => path)).toEqual([['email']]);
  expect(definition.checkOutput?.({ email: 1 }).ok).toBe(false);
  expect(definition.bindInput({ args: ['Ann'] })).toEqual({ ok: true, input: { who: 'Ann' } });
  expect(
    definition.resumeCall?.(
      { who: 'Ann' } as never,
      { carry: 7, resolution: { kind: 'expired' } },
      context as never,
    ),
  ).toEqual(['Ann', 7]);
  expect(tool.needs).toEqual({ clock: Clock });
});

test('names every problem of a definition at once: the tool, the field, the value and the mend', async () => {
  const wrong = {
    name: 'no spaces',
    description: ' ',
    input: Type.Intersect([Type.Object({})]),
    output: { type: 'strnig' },
    effects: { access: 'all', externality: 'local', destructive: 'no', network: false },
    idempotency: 'maybe',
    approval: 'ask',
    evidence: 'some',
    onReject: 'stop',
    onError: 'stop',
    permissions: ['a', 'a'],
    concurrent: 1,
    positional: [''],
    needs: { x: 1 },
    timeoutMs: 0,
    maxResultBytes: 1.5,
    execute: 'run',
    resume: 1,
    reconcile: 1n,
    retries: 3,
  };
  expect(() => defineTool(wrong as never)).toThrowErrorMatchingInlineSnapshot(`
    [AgentError: defineTool("no spaces") has 21 problems:
      - defineTool("no spaces").name: is "no spaces". Use 1 to 128 letters, digits, ".", "_" or "-".
      - defineTool("no spaces").description: is " ". Say in a sentence what the tool does and when to use it: the model reads it.
      - defineTool("no spaces").retries: is not a field of a tool. Leave it out, or use: name, description, output, effects, input, execute, resume, reconcile, cleanup, idempotency, approval, evidence, onReject, onError, concurrent, permissions, positional, needs, timeoutMs, maxResultBytes.
      - defineTool("no spaces").execute: is "run". Give the function that does the work.
      - defineTool("no spaces").resume: is 1. Give a function, or leave it out.
      - defineTool("no spaces").reconcile: is a bigint. Give a function, or leave it out.
      - defineTool("no spaces").idempotency: is "maybe". Use one of: idempotent, conditionally-idempotent, non-idempotent, unknown.
      - defineTool("no spaces").approval: is "ask". Use one of: derived, required, not-required.
      - defineTool("no spaces").evidence: is "some". Use one of: none, reference-only, summary, structured, raw, redacted.
      - defineTool("no spaces").onReject: is "stop". Use one of: return, fail.
      - defineTool("no spaces").onError: is "stop". Use one of: return, fail.
      - defineTool("no spaces").concurrent: is 1. Give true or false.
      - defineTool("no spaces").permissions: is ["a","a"]. Give a list of names that are not blank and differ.
      - defineTool("no spaces").positional: is [""]. Give a list of names that are not blank and differ.
      - defineTool("no spaces").needs: is {"x":1}. Give ports by the names under which tool.deps shall have them: { payments: Payments }.
      - defineTool("no spaces").timeoutMs: is 0. Give whole milliseconds from 1 to 2147483647.
      - defineTool("no spaces").maxResultBytes: is 1.5. Give a whole number of bytes above 0.
      - defineTool("no spaces").effects.access: is "all". Use one of: none, read, write, read-write.
      - defineTool("no spaces").effects.destructive: is "no". Give true or false.
      - defineTool("no spaces").input.allOf: the keyword "allOf" is outside the supported JSON Schema subset. Merge the members into one object schema.
      - defineTool("no spaces").output.type: is "strnig". Give one or more of: string, number, integer, boolean, null, array, object.]
  `);
});

test('says what is missing from an empty definition', () => {
  for (const nothing of [{}, undefined, null, 7]) {
    expect(() => defineTool(nothing as never)).toThrow(
      /name: is missing[\s\S]*description: is missing[\s\S]*input: is missing[\s\S]*execute: is missing[\s\S]*effects: is missing/,
    );
  }
});

const spec = {
  name: 'x',
  description: 'X.',
  input: Type.Object({}),
  effects: effects.readOnly(),
  execute: () => 1,
};

test('takes one object and nothing else', () => {
  expect(() => defineTool({ ...spec, input: Type.String() })).toThrow(
    'has the type "string". A tool takes one object',
  );
  expect(() => defineTool({ ...spec, input: Type.Union([Type.Object({})]) })).toThrow(
    'has the type "none"',
  );
});

test('knows the positional names from the input, and refuses what would be ambiguous', () => {
  const input = Type.Object({ a: Type.String(), args: Type.String() });
  expect(() => defineTool({ ...spec, input, positional: ['a', 'b'] as never })).toThrow(
    /names "b", which the input does not have[\s\S]*cannot be told from the input's own property "args"/,
  );
  expect(() =>
    defineTool({ ...spec, input: { type: 'object' }, positional: ['a'] as never }),
  ).toThrow('Use names of the input: none.');
  expect(() => defineTool({ ...spec, positional: 'a' as never })).toThrow('positional: is "a"');
});

test('accepts an output schema and refuses a broken one', () => {
  expect(defineTool({ ...spec, output: Type.Number() }).definition.outputSchema).toEqual({
    type: 'number',
  });
  expect(() => defineTool({ ...spec, output: Type.Never() })).toThrow('output.not');
});

test('writes a value that JSON cannot show', () => {
  expect(() => defineTool({ ...spec, timeoutMs: 1n as never })).toThrow('timeoutMs: is a bigint');
  expect(() => defineTool({ ...spec, approval: Symbol('x') as never })).toThrow(
    'approval: is Symbol(x)',
  );
  expect(() => defineTool({ ...spec, approval: (() => 1) as never })).toThrow(
    'approval: is a function',
  );
});

test('gives a tool what its schema library makes of the input, and keeps what was sent', async () => {
  const dates = {
    '~standard': {
      version: 1,
      vendor: 'acme',
      validate: (value: unknown) => {
        const { on } = value as { on?: string };
        return typeof on === 'string'
          ? { value: { on: new Date(on) } }
          : { issues: [{ message: 'on must be a date', path: ['on'] }] };
      },
      jsonSchema: {
        input: () => ({ type: 'object', properties: { on: { type: 'string', format: 'date' } } }),
      },
    },
  } as unknown as StandardSchemaV1<{ on: string }, { on: Date }>;
  const tool = defineTool({
    ...spec,
    input: dates,
    execute: ({ on }) => on.getUTCFullYear(),
    resume: ({ on }) => on.getUTCMonth(),
    reconcile: async ({ on }) => ({ kind: 'committed', result: on.getUTCDate() }),
  });
  const input = { on: '2024-05-06' } as never;
  expect(tool.definition.inputSchema['additionalProperties']).toBe(false);
  expect(tool.definition.bindInput(input)).toEqual({ ok: true, input: { on: '2024-05-06' } });
  expect(tool.definition.bindInput({})).toEqual({ ok: false, problems: ['on: on must be a date'] });
  expect(tool.execute(input, context)).toBe(2024);
  expect(
    tool.definition.resumeCall?.(
      input,
      { carry: null, resolution: { kind: 'expired' } },
      context as never,
    ),
  ).toBe(4);
  expect(await tool.definition.reconcile?.(input, context as never)).toEqual({
    kind: 'committed',
    result: 6,
  });
  expect(() => tool.execute({} as never, context)).toThrow(
    'The input of "x" does not fit: on: on must be a date.',
  );
});

test('defines a tool that the client runs', () => {
  const tool = clientTool({
    name: 'ui.confirm',
    description: 'Asks the user.',
    input: Type.Object({ question: Type.String() }),
  });
  expect(tool.runs).toBe('client');
  expect(tool.definition).toMatchObject({
    requiresApproval: false,
    approval: 'not-required',
    resume: 'ask',
    risk: ['side-effect'],
  });
  expect(tool.definition.bindInput({ question: 1 }).ok).toBe(false);
  expect(() => tool.execute({ question: 'x' }, context)).toThrow('it runs at the client, not here');
  expect(() => clientTool({ name: '', description: '', input: { oneOf: [] } })).toThrow(
    /3 problems/,
  );
  expect(() => clientTool(undefined as never)).toThrow('clientTool("undefined")');
});
