import { Type } from 'typebox';
import { expectTypeOf, test } from 'vitest';
import {
  type AgentDefinition,
  type App,
  defineAgent,
  definePort,
  type JsonValue,
  type RunContext,
} from '../../src/index.ts';

interface Files {
  read(path: string): Promise<string>;
}
const Files = definePort<Files>('files');
const Sinks = definePort<{ readonly name: string }>('sinks', { arity: 'many' });
declare const app: App;

test('an agent without an output answers in text', () => {
  const agent = defineAgent({ name: 'a' });
  expectTypeOf(agent).toEqualTypeOf<AgentDefinition<string>>();
});

test('the output of an agent types the result of its runs', async () => {
  const agent = defineAgent({ name: 'a', output: Type.Object({ receipt: Type.String() }) });
  const result = await app.run(agent, 'go');
  // @ts-expect-error -- only a completed run has an output
  void result.output;
  if (result.kind === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ receipt: string }>();
});

test('the needs of an agent type the deps of its functions', () => {
  defineAgent({
    name: 'a',
    needs: { files: Files, sinks: Sinks },
    instructions: ({ deps }) => {
      expectTypeOf(deps.files).toEqualTypeOf<Files>();
      expectTypeOf(deps.sinks).toEqualTypeOf<readonly { readonly name: string }[]>();
      // @ts-expect-error -- only what is named in needs is there
      void deps.shell;
      return 'x';
    },
    signals: {
      'user-message': async function* (_signal, context) {
        expectTypeOf(context.deps.files).toEqualTypeOf<Files>();
        yield { kind: 'progress', message: await context.deps.files.read('a'), step: 's' };
      },
    },
  });
});

test('execute may be an async generator, a generator or a plain function', () => {
  defineAgent({
    name: 'a',
    execute: async function* (_input, context) {
      expectTypeOf(context).toExtend<RunContext>();
      yield { kind: 'progress', message: 'x', step: 's' };
    },
  });
  defineAgent({
    name: 'a',
    execute: function* () {
      yield { kind: 'progress', message: 'x', step: 's' };
    },
  });
  defineAgent({ name: 'a', execute: () => 'text' });
  defineAgent({ name: 'a', execute: async (): Promise<JsonValue> => ({ answer: 1 }) });
  // @ts-expect-error -- a function has no JSON form
  defineAgent({ name: 'a', execute: () => () => 'x' });
});

test('refuses what is no field, no kind and no hook', () => {
  // @ts-expect-error -- no such field
  defineAgent({ name: 'a', colour: 'red' });
  // @ts-expect-error -- no such kind
  defineAgent({ name: 'a', accepts: ['shout'] });
  // @ts-expect-error -- a cancellation has steps of its own
  defineAgent({ name: 'a', signals: { cancel: async function* () {} } });
  // @ts-expect-error -- a name is needed
  defineAgent({ objective: 'x' });
});
