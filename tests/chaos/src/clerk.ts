import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import {
  type AgentDefinition,
  bind,
  defineAgent,
  definePlugin,
  defineTool,
  effects,
  Model,
  type ModelEvent,
  type Plugin,
  type Reconciliation,
} from '@hexagent/agent-core';
import { Type } from 'typebox';

/** Whether the tool can be asked what became of an effect. */
export const SAFETIES = ['reconcilable', 'unsafe'] as const;
export type Safety = (typeof SAFETIES)[number];

/** Where a process stops and waits to be killed. */
export type Reach = (point: string) => Promise<void>;

/** An agent whose one effect is a line in a file: how often it happened can be counted. */
export function clerk(options: {
  readonly file: string;
  readonly safety: Safety;
  readonly reach: Reach;
}): AgentDefinition {
  const { file, safety, reach } = options;
  const probe = (key: string): Reconciliation =>
    effectsIn(file).includes(key)
      ? { kind: 'committed', result: { written: key } }
      : { kind: 'not-started' };
  const append = defineTool({
    name: 'ledger.append',
    description: 'Writes an entry into the ledger.',
    input: Type.Object({ entry: Type.String() }),
    effects: effects.externalSideEffect(),
    execute: async (_input, { call }) => {
      await reach('before the effect');
      appendFileSync(file, `${call.idempotencyKey}\n`, { flush: true });
      await reach('after the effect');
      return { written: call.idempotencyKey };
    },
    ...(safety === 'unsafe'
      ? {}
      : { reconcile: async (_input, { call }) => probe(call.idempotencyKey) }),
  });
  return defineAgent({ name: 'clerk', recovery: 'action-boundary', tools: [append] });
}

/** The keys under which the effect happened, one for each time. */
export function effectsIn(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

/** Calls the tool, then says that it is done. It keeps nothing: what it answers is in the messages. */
export function clerkModel(): Plugin {
  const answer = (isDone: boolean): readonly ModelEvent[] =>
    isDone
      ? [
          { type: 'text', text: 'It is ' },
          { type: 'text', text: 'written.' },
        ]
      : [
          { type: 'tool-call-start', index: 0, name: 'ledger.append' },
          { type: 'tool-call-delta', index: 0, delta: '{"entry":"12 euros"}' },
        ];
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'clerk-model',
      version: '0.0.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [
      bind(Model, {
        id: 'clerk-model',
        capabilities: () => ({
          tools: true,
          reasoning: false,
          structuredOutput: 'none',
          inputModalities: ['text'],
        }),
        async *stream({ messages }) {
          const isDone = messages.some(({ role }) => role === 'tool');
          yield answer(isDone);
          const reason = isDone ? 'stop' : 'tool-calls';
          yield [{ type: 'finish', reason, usage: { outputTokens: 5 }, model: 'clerk-model' }];
        },
      }),
    ],
  })({});
}
