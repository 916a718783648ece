import {
  type Binding,
  bootstrap,
  defineAgent,
  defineTool,
  effects,
  type ModelEvent,
  type ModelRequest,
} from '@hexagent/agent-core';
import { benchModel } from '../parts/bench-model.ts';
import { type Contender, lookUp, PROMPT, type Script, SYSTEM, TOOL, type Turn } from './script.ts';

/** Deltas of one network read, as a server that is under load sends them. */
const BATCH = 16;

/** The same work through the public API: a stateless agent, its run streamed. */
export async function agentCore(script: Script): Promise<Contender> {
  const lookup = defineTool({
    name: TOOL,
    description: 'Looks something up.',
    input: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    effects: effects.readOnly(),
    execute: (input) => lookUp(String(Object(input).query)),
  });
  const agent = defineAgent({
    name: 'bench',
    instructions: SYSTEM,
    tools: [lookup],
    limits: { maxSteps: 1_000, maxToolCalls: 10_000 },
  });
  const app = await bootstrap({ plugins: [], provide: [scripted(script)], agents: [agent] });
  return {
    async play() {
      let deltas = 0;
      let characters = 0;
      let results = 0;
      const run = await app.start(agent, PROMPT);
      for await (const { event } of run.events()) {
        if (event.type === 'message-delta') {
          deltas += 1;
          characters += event.delta.length;
        } else if (event.type === 'tool-call-result') results += 1;
      }
      const { kind } = await run.result;
      if (kind !== 'completed') throw new Error(`The run came to "${kind}".`);
      return { deltas, characters, results };
    },
    close: () => app.close(),
  };
}

function scripted(script: Script): Binding {
  const turns = script.map(batches);
  return benchModel(async function* (request) {
    yield* turns[turnOf(request)] ?? [];
  });
}

function turnOf({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

function batches({ deltas, queries }: Turn): readonly (readonly ModelEvent[])[] {
  const events: ModelEvent[] = deltas.map((text) => ({ type: 'text', text }));
  for (const [index, query] of queries.entries()) {
    events.push({ type: 'tool-call-start', index, name: TOOL, providerCallId: `call_${index}` });
    events.push({ type: 'tool-call-delta', index, delta: JSON.stringify({ query }) });
  }
  const usage = { inputTokens: 10, outputTokens: 10 };
  const reason = queries.length > 0 ? 'tool-calls' : 'stop';
  events.push({ type: 'finish', reason, usage, model: 'bench' });
  return Array.from({ length: Math.ceil(events.length / BATCH) }, (_, at) =>
    events.slice(at * BATCH, (at + 1) * BATCH),
  );
}
