import { appendFileSync, writeFileSync } from 'node:fs';
import {
  type AgentModel,
  type AppConfig,
  bind,
  defineAgent,
  defineTool,
  effects,
  Model,
} from '@hexagent/agent-core';
import { type ScriptStep, scriptedModel } from '@hexagent/agent-core/testing';
import { kyselyStore } from '@hexagent/agent-kysely';
import { Type } from 'typebox';

const {
  E2E_STEPS = '[]',
  E2E_HANGS = '0',
  E2E_STORE = 'file:runs.db',
  E2E_WRITES = 'writes.log',
  E2E_LEASE_MS,
} = process.env;
const steps = JSON.parse(E2E_STEPS) as readonly ScriptStep[];

/** Says something so many times, and then nothing more until it is aborted. */
const hanging: AgentModel = {
  id: 'hanging',
  capabilities: () => ({
    tools: true,
    reasoning: false,
    structuredOutput: 'none',
    inputModalities: ['text'],
  }),
  stream: async function* (_request, { signal }) {
    for (let count = Number(E2E_HANGS); count > 0; count -= 1) {
      yield [{ type: 'text', text: 'and so on ' }];
    }
    const alive = setInterval(() => undefined, 1_000);
    try {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    } finally {
      clearInterval(alive);
    }
  },
};

const write = defineTool({
  name: 'workspace.write',
  description: 'Write a file.',
  input: Type.Object({ path: Type.String(), content: Type.String() }),
  effects: effects.writeState(),
  approval: 'required',
  execute: ({ path, content }) => {
    appendFileSync(E2E_WRITES, `${path}\n`);
    writeFileSync(path, content);
    return { written: path };
  },
});

/** Never comes back, whatever it is told. */
const stick = defineTool({
  name: 'stick',
  description: 'Wait for ever.',
  input: Type.Object({}),
  effects: effects.readOnly(),
  execute: () =>
    new Promise(() => {
      setInterval(() => undefined, 1_000);
    }),
});

const config: AppConfig = {
  ...(E2E_LEASE_MS === undefined ? {} : { leaseMs: Number(E2E_LEASE_MS) }),
  plugins: [...(E2E_HANGS === '0' ? [scriptedModel(steps)] : []), kyselyStore({ url: E2E_STORE })],
  provide: E2E_HANGS === '0' ? [] : [bind(Model, hanging)],
  agents: [
    defineAgent({ name: 'writer', recovery: 'action-boundary', tools: [write, stick] }),
    defineAgent({ name: 'talker' }),
  ],
};

export default config;
