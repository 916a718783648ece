// Hexagent in the overhead harness: one file, the shape of an adapter of it. Imports the packed packages by name.
import {
  bind,
  bootstrap,
  defineAgent,
  definePlugin,
  defineTool,
  effects,
  Model,
} from '@hexagent/agent-core';

const TOOL_NAME = 'lookup';
const SYSTEM = 'You are a helpful assistant.';

/** The turn that a request is for: how many assistant messages follow the last user message. */
function turnOf(messages) {
  let turn = 0;
  for (let index = messages.length - 1; index >= 0 && messages[index].role !== 'user'; index -= 1) {
    if (messages[index].role === 'assistant') turn += 1;
  }
  return turn;
}

function scriptModel(script) {
  const turns = script.turns.map(({ deltas, toolCalls }) => [
    ...deltas.map((text) => ({ type: 'text', text })),
    ...toolCalls.flatMap(({ id, name, args }, index) => [
      { type: 'tool-call-start', index, providerCallId: id, name },
      { type: 'tool-call-delta', index, delta: args },
    ]),
    {
      type: 'finish',
      reason: toolCalls.length > 0 ? 'tool-calls' : 'stop',
      usage: { inputTokens: 10, outputTokens: 10 },
      model: script.id,
    },
  ]);
  const capabilities = {
    tools: true,
    reasoning: false,
    structuredOutput: 'with-tools',
    inputModalities: ['text'],
  };
  return definePlugin({
    manifest: {
      name: 'bench-model',
      version: '0.0.0',
      contract: 1,
      contributes: [Model],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [
      bind(Model, {
        id: 'bench',
        capabilities: () => capabilities,
        async *stream({ messages }) {
          yield turns[turnOf(messages)];
        },
      }),
    ],
  })({});
}

export default {
  label: 'hexagent',
  packages: ['@hexagent/agent-core', '@hexagent/agent-vllm', '@hexagent/agent-kysely'],
  coldImports: ['@hexagent/agent-core'],
  transports: ['mem', 'http'],
  durable: ['pg-sync', 'sqlite'],
  async create(context) {
    const { script, transport, baseURL, durable } = context;
    const search = defineTool({
      name: TOOL_NAME,
      description: 'Search.',
      input: {
        type: 'object',
        properties: { q: { type: 'string' } },
        required: ['q'],
        additionalProperties: false,
      },
      effects: effects.readOnly(),
      execute: (input) => context.tool(input),
    });
    const agent = defineAgent({
      name: 'bench',
      instructions: SYSTEM,
      tools: [search],
      recovery: durable === undefined ? 'none' : 'action-boundary',
      limits: { maxSteps: 100, maxToolCalls: 1000 },
    });
    const plugins = [transport === 'http' ? await httpModel(baseURL, script) : scriptModel(script)];
    if (durable !== undefined) plugins.push(await store(durable));
    const app = await bootstrap({ plugins, agents: [agent] });
    return {
      history: (neutral) =>
        neutral.map(({ role, text }) => ({
          role,
          origin: role === 'user' ? 'user' : 'model',
          parts: [{ type: 'text', text }],
        })),
      async run({ prompt, history }, sink) {
        const run = await app.start(
          agent,
          history === undefined ? prompt : { message: prompt, history },
        );
        for await (const { event } of run.events()) {
          if (event.type === 'message-delta') sink.delta(event.delta);
          else sink.event();
        }
        const result = await run.result;
        if (result.kind !== 'completed') throw new Error(JSON.stringify(result));
      },
      close: () => app.close(),
    };
  },
};

async function httpModel(baseUrl, script) {
  const { vllm } = await import('@hexagent/agent-vllm');
  return vllm({ baseUrl, model: script.id, apiKey: 'x' });
}

async function store({ mode, pgUrl, file, poolSize }) {
  const { kyselyStore } = await import('@hexagent/agent-kysely');
  if (mode === 'sqlite') return kyselyStore({ url: `file:${file}` });
  return kyselyStore({ url: pgUrl, poolSize, migrate: 'auto' });
}
