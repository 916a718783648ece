import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentModel,
  bind,
  definePlugin,
  Model,
  type ModelEvent,
  type ModelRequest,
} from '@hexagent/agent-core';
import { fixSlugify, type Reply } from './fix-slugify.ts';
import { turnOf } from './transcript.ts';

const NAME = 'scripted demo model';

/** Rough, as providers without a tokenizer count: four characters a token. */
const tokens = (text: string): number => Math.ceil(text.length / 4);

/**
 * A model that needs no server. It decides by the messages of each request alone, like a real one, so
 * any process can go on where another has left.
 */
export const demoModel = definePlugin<{ readonly paceMs?: number }>({
  manifest: {
    name: '@hexagent/example-code-assistant/demo-model',
    version: '0.1.0',
    contract: 1,
    contributes: [Model],
    requires: [],
    options: { type: 'object', properties: { paceMs: { type: 'number', minimum: 0 } } },
  },
  setup: ({ paceMs = 0 }) => [bind(Model, scriptedEngineer(paceMs))],
});

function scriptedEngineer(paceMs: number): AgentModel {
  return {
    id: NAME,
    capabilities: () => ({
      tools: true,
      reasoning: false,
      structuredOutput: 'none',
      inputModalities: ['text'],
    }),
    stream: async function* (request, { signal }) {
      const reply = fixSlugify(turnOf(request.messages));
      for (const word of reply.text.split(/(?<=\s)/)) {
        if (paceMs > 0) await sleep(paceMs, undefined, { signal });
        signal.throwIfAborted();
        yield [{ type: 'text', text: word }];
      }
      yield [...callEvents(reply), finish(request, reply)];
    },
  };
}

function callEvents({ calls }: Reply): readonly ModelEvent[] {
  return calls.flatMap(({ name, input }, index): readonly ModelEvent[] => [
    { type: 'tool-call-start', index, providerCallId: `call-${index}`, name },
    { type: 'tool-call-delta', index, delta: JSON.stringify(input) },
  ]);
}

function finish({ messages }: ModelRequest, reply: Reply): ModelEvent {
  return {
    type: 'finish',
    reason: reply.calls.length === 0 ? 'stop' : 'tool-calls',
    model: NAME,
    usage: {
      inputTokens: tokens(JSON.stringify(messages)),
      outputTokens: tokens(reply.text + JSON.stringify(reply.calls)),
    },
  };
}
