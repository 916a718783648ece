import { printRun } from '@hexagent/agent-cli';
import { bootstrap, defineAgent, defineTool, effects } from '@hexagent/agent-core';
import { vllm } from '@hexagent/agent-vllm';
import { Type } from 'typebox';

const add = defineTool({
  name: 'math.add',
  description: 'Add two numbers.',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }),
  effects: effects.readOnly(),
  execute: ({ a, b }) => a + b,
});

const instructions = 'Use the tools. Answer in one sentence.';
const assistant = defineAgent({ name: 'assistant', instructions, tools: [add] });

const baseUrl = process.env.HEXAGENT_MODEL_URL ?? 'http://127.0.0.1:8000/v1';
const app = await bootstrap({ plugins: [vllm({ baseUrl })], agents: [assistant] });
await printRun(await app.start(assistant, 'What is 2 + 40?'));
await app.close();
