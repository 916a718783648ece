import { Type as Sinclair } from '@sinclair/typebox';
import { Type } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { definePort } from '../base/port.ts';
import type { StandardSchemaV1 } from '../base/schema-types.ts';
import { secret, sensitive } from '../guard/sensitive.ts';
import { callTool } from '../testing/call-tool.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import { clientTool, defineTool } from './define-tool.ts';
import { effects } from './effects.ts';
import { suspend } from './suspend.ts';
import type { Tool } from './tool.ts';

interface Payments {
  charge(cents: number): Promise<{ readonly id: string }>;
}
const Payments = definePort<Payments>('payments');
const Sinks = definePort<{ readonly name: string }>('sinks', { arity: 'many' });
const common = { name: 'x', description: 'X.', effects: effects.readOnly() };

test('infers the input from a typebox 1.x type', () => {
  const tool = defineTool({
    ...common,
    input: Type.Object({
      a: Type.Number(),
      b: Type.Optional(Type.String()),
      c: Type.Union([Type.Literal('x'), Type.Literal('y'), Type.Null()]),
      d: Type.Array(Type.Object({ e: Type.Boolean() })),
      f: Type.Tuple([Type.String(), Type.Integer()]),
      g: Type.Record(Type.String(), Type.Number()),
      h: sensitive(Type.String(), { category: 'email' }),
      i: Type.Optional(secret(Type.String())),
    }),
    execute: (input) => {
      expectTypeOf(input).toEqualTypeOf<{
        a: number;
        b?: string;
        c: 'x' | 'y' | null;
        d: { e: boolean }[];
        f: [string, number];
        g: Record<string, number>;
        h: string;
        i?: string;
      }>();
      return input.a;
    },
  });
  expectTypeOf(tool).toExtend<Tool>();
});

test('infers the input from a type of @sinclair/typebox', () => {
  defineTool({
    ...common,
    input: Sinclair.Object({
      a: Sinclair.Number(),
      b: Sinclair.Optional(sensitive(Sinclair.String(), { category: 'email' })),
    }),
    execute: (input) => {
      expectTypeOf(input.a).toEqualTypeOf<number>();
      expectTypeOf(input.b).toEqualTypeOf<string | undefined>();
    },
  });
});

test('infers the input from a Standard Schema: what it makes of the input', () => {
  const schema = {} as StandardSchemaV1<{ on: string }, { on: Date }>;
  defineTool({
    ...common,
    input: schema,
    execute: (input) => expectTypeOf(input).toEqualTypeOf<{ on: Date }>(),
  });
});

test('knows nothing of a plain JSON Schema', () => {
  defineTool({
    ...common,
    input: { type: 'object', properties: { a: { type: 'string' } } },
    execute: (input) => expectTypeOf(input).toBeUnknown(),
  });
});

test('types deps by needs, and nothing when there are none', () => {
  defineTool({
    ...common,
    input: Type.Object({ cents: Type.Integer() }),
    needs: { payments: Payments, sinks: Sinks },
    execute: ({ cents }, tool) => {
      expectTypeOf(tool.deps.payments).toEqualTypeOf<Payments>();
      expectTypeOf(tool.deps.sinks).toEqualTypeOf<readonly { readonly name: string }[]>();
      return tool.deps.payments.charge(cents);
    },
    reconcile: async ({ cents }, tool) => {
      expectTypeOf(cents).toEqualTypeOf<number>();
      expectTypeOf(tool.deps.payments).toEqualTypeOf<Payments>();
      return { kind: 'not-started' };
    },
    resume: ({ cents }, carried, tool) => {
      expectTypeOf(carried.carry).toEqualTypeOf<JsonValue>();
      expectTypeOf(tool).toEqualTypeOf<
        ToolContext<{
          readonly payments: Payments;
          readonly sinks: readonly { readonly name: string }[];
        }>
      >();
      return cents;
    },
  });
  defineTool({
    ...common,
    input: Type.Object({}),
    // @ts-expect-error: no need of this name
    execute: (_input, tool) => tool.deps.payments,
  });
});

test('holds the result against a declared output, and lets a tool suspend', () => {
  const input = Type.Object({});
  defineTool({
    ...common,
    input,
    output: Type.Object({ id: Type.String() }),
    execute: () => ({ id: 'a' }),
  });
  defineTool({
    ...common,
    input,
    output: Type.Object({ id: Type.String() }),
    execute: async () => suspend({ kind: 'event', name: 'x' }),
  });
  defineTool({
    ...common,
    input,
    output: Type.Object({ id: Type.String() }),
    // @ts-expect-error: id is a string
    execute: () => ({ id: 1 }),
  });
});

test('takes positional names from the input only', () => {
  const input = Type.Object({ a: Type.String() });
  defineTool({ ...common, input, positional: ['a'], execute: () => 1 });
  // @ts-expect-error: no such property
  defineTool({ ...common, input, positional: ['b'], execute: () => 1 });
});

test('lets any defined tool into a list of tools', () => {
  const one = defineTool({
    ...common,
    input: Type.Object({ a: Type.String() }),
    needs: { payments: Payments },
    execute: () => 1,
  });
  const two = clientTool({ name: 'y', description: 'Y.', input: { type: 'object' } as JsonObject });
  const tools: readonly Tool[] = [one, two];
  expectTypeOf(tools).toEqualTypeOf<readonly Tool[]>();
});

test('types the input and the deps of callTool', () => {
  const tool = defineTool({
    ...common,
    input: Type.Object({ a: Type.Number() }),
    needs: { payments: Payments },
    execute: () => 1,
  });
  const payments: Payments = { charge: async () => ({ id: '1' }) };
  void callTool(tool, { a: 1 }, { deps: { payments } });
  // @ts-expect-error: a is a number
  void callTool(tool, { a: 'x' }, { deps: { payments } });
  // @ts-expect-error: not a Payments
  void callTool(tool, { a: 1 }, { deps: { payments: 1 } });
});

test('keeps the type of a schema that it marks', () => {
  const email = Type.String();
  expectTypeOf(sensitive(email, { category: 'email' })).toEqualTypeOf(email);
  expectTypeOf(secret(Sinclair.String())).toEqualTypeOf<ReturnType<typeof Sinclair.String>>();
});
