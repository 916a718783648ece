import {
  type AgentDefinition,
  type App,
  type Binding,
  bind,
  bootstrap,
  Durability,
  type DurableStore,
  defineAgent,
  defineTool,
  effects,
  type Message,
} from '@hexagent/agent-core';
import { benchModel } from '../parts/bench-model.ts';

const TOOL = 'lookup';

/** An application whose runs call a tool so many times, one call a step, and then answer. */
export type ToolRuns = {
  run(history?: number): Promise<void>;
  close(): Promise<void>;
};

export async function toolRuns(store: DurableStore, steps: number): Promise<ToolRuns> {
  const lookup = defineTool({
    name: TOOL,
    description: 'Looks something up.',
    input: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    effects: effects.readOnly(),
    execute: async (input) => ({ found: `All about ${String(Object(input).query)}.` }),
  });
  const agent: AgentDefinition = defineAgent({
    name: 'bench',
    instructions: 'You are a helpful assistant.',
    tools: [lookup],
    recovery: 'action-boundary',
    limits: { maxSteps: 10_000, maxToolCalls: 10_000 },
  });
  const app: App = await bootstrap({
    plugins: [],
    provide: [model(steps), bind(Durability, store)],
    agents: [agent],
  });
  return {
    run: async (history = 0) => {
      const result = await app.run(agent, {
        message: 'Look it up.',
        ...(history === 0 ? {} : { history: talk(history) }),
      });
      if (result.kind !== 'completed') throw new Error(`The run came to "${result.kind}".`);
    },
    close: () => app.close(),
  };
}

/** What was said before, in so many messages. */
function talk(messages: number): readonly Message[] {
  return Array.from({ length: messages }, (_, index): Message => {
    const parts = [{ type: 'text' as const, text: `This is message ${index} of a long talk.` }];
    return index % 2 === 0
      ? { role: 'user', origin: 'user', parts }
      : { role: 'assistant', origin: 'model', parts };
  });
}

/** Calls the tool until it has been called often enough since the last user message. */
function model(steps: number): Binding {
  return benchModel(async function* ({ messages }) {
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const answers = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
    const usage = { inputTokens: 10, outputTokens: 10 };
    if (answers < steps)
      yield [
        { type: 'tool-call-start', index: 0, name: TOOL, providerCallId: 'call_0' },
        { type: 'tool-call-delta', index: 0, delta: `{"query":"question ${answers}"}` },
        { type: 'finish', reason: 'tool-calls', usage, model: 'bench' },
      ];
    else
      yield [
        { type: 'text', text: 'Here is what I found.' },
        { type: 'finish', reason: 'stop', usage, model: 'bench' },
      ];
  });
}
