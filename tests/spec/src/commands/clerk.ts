import {
  type AgentDefinition,
  bind,
  defineAgent,
  definePlugin,
  defineTool,
  effects,
  Model,
  type ModelEvent,
  type ModelRequest,
  type Plugin,
  suspend,
  type Tool,
  type ToolContext,
  textOf,
} from '@hexagent/agent-core';
import type { Machine } from './machine.ts';
import { idAt, planIn, type Told, type ToolName } from './plan.ts';
import type { World } from './world.ts';

/** How long a call listens, in milliseconds. */
export const LISTENS_MS = 100_000;

const input = {
  type: 'object',
  properties: { id: { type: 'string' } },
  required: ['id'],
  additionalProperties: false,
} as const;
const idOf = (given: unknown): string => String(Object(given).id);

/** An agent that does what it is told, on one machine: what it did is in the world, and the machine may die at it. */
export function clerk(name: string, here: { readonly machine: Machine; readonly world: World }) {
  const { machine, world } = here;
  type Extra = Partial<Parameters<typeof defineTool>[0]>;
  const act = (tool: ToolName, once: boolean) => {
    return async (given: unknown, { call }: ToolContext): Promise<string> => {
      const id = idOf(given);
      await machine.reach('effect');
      const deed = { callId: call.callId, tool, key: call.idempotencyKey, id };
      if (once) world.takeOnce(deed);
      else world.take(deed);
      await machine.reach('effect');
      return `${tool} ${id}`;
    };
  };
  const effect = (tool: ToolName, extra: Extra): Tool =>
    defineTool({
      name: tool,
      description: tool,
      input,
      effects: effects.writeState(),
      approval: 'not-required',
      execute: act(tool, extra.idempotency === 'idempotent'),
      ...extra,
    } as Parameters<typeof defineTool>[0]) as Tool;
  const tools: readonly Tool[] = [
    defineTool({
      name: 'look',
      description: 'look',
      input,
      effects: effects.readOnly(),
      execute: async (given) => {
        await machine.reach('effect');
        return `look ${idOf(given)}`;
      },
    }) as Tool,
    effect('pay', { idempotency: 'idempotent' }),
    effect('book', {
      reconcile: async (given, { call }) =>
        world.knows(call.idempotencyKey)
          ? { kind: 'committed', result: `book ${idOf(given)}` }
          : { kind: 'not-started' },
    }),
    effect('mail', {}),
    effect('sign', { idempotency: 'idempotent', approval: 'required' }),
    effect('hand', { approval: 'required' }),
    defineTool({
      name: 'listen',
      description: 'listen',
      input,
      effects: effects.readOnly(),
      execute: (given) => suspend({ kind: 'event', name: idOf(given), timeoutMs: LISTENS_MS }),
      resume: (_given, { resolution }) =>
        resolution.kind === 'resolved' ? `heard ${String(resolution.value)}` : 'heard nothing',
    }) as Tool,
  ];
  const agent: AgentDefinition = defineAgent({
    name,
    recovery: 'action-boundary',
    accepts: [
      'user-message',
      'steering-instruction',
      'follow-up',
      'approval-decision',
      'cancel',
      'pause',
      'resume',
      'external-event',
      'scheduler-wake-up',
    ],
    tools,
    limits: { maxSteps: 1_000, maxToolCalls: 1_000 },
  });
  return agent;
}

/** A model that keeps nothing: what it answers is in the messages. */
export function clerkModel(): Plugin {
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
        id: 'clerk',
        capabilities: () => ({
          tools: true,
          reasoning: false,
          structuredOutput: 'none',
          inputModalities: ['text'],
        }),
        async *stream(request) {
          yield answerTo(request);
        },
      }),
    ],
  })({});
}

function answerTo({ messages }: ModelRequest): readonly ModelEvent[] {
  const start = messages.findLastIndex(
    ({ role, parts }) => role === 'user' && planIn(textOf(parts)) !== undefined,
  );
  const own = messages.slice(start + 1);
  const plan = planIn(textOf(messages[start]?.parts ?? [])) ?? [];
  const at = own.filter(({ role }) => role === 'assistant').length;
  const batch = plan[at];
  if (batch === undefined) {
    const told: Told = {
      results: own.flatMap(({ parts }) =>
        parts.flatMap((part) =>
          part.type === 'tool-result'
            ? [part.outcome === 'ok' ? textOf(part.content) : part.outcome]
            : [],
        ),
      ),
      heard: own.flatMap(({ role, parts }) => (role === 'user' ? [textOf(parts)] : [])),
    };
    return [
      { type: 'text', text: JSON.stringify(told) },
      { type: 'finish', reason: 'stop', usage: { outputTokens: 1 }, model: 'clerk' },
    ];
  }
  return [
    ...batch.flatMap((name, index): readonly ModelEvent[] => [
      { type: 'tool-call-start', index, name },
      { type: 'tool-call-delta', index, delta: JSON.stringify({ id: idAt(at, index) }) },
    ]),
    { type: 'finish', reason: 'tool-calls', usage: { outputTokens: 1 }, model: 'clerk' },
  ];
}
