import { anthropicModel } from '@hexagent/agent-anthropic';
import type { AgentModel } from '@hexagent/agent-core';
import type { ScriptedServer } from '@hexagent/agent-core/testing';
import { openaiModel } from '@hexagent/agent-openai';
import { vllmModel } from '@hexagent/agent-vllm';
import { loopbackServer } from '@hexagent/test-loopback';
import { scriptedServer as anthropicServer } from '../../../packages/agent-anthropic/test/scripted-server.ts';
import {
  chatServer,
  responsesServer,
} from '../../../packages/agent-openai/test/scripted-server.ts';
import { scriptedServer as vllmServer } from '../../../packages/agent-vllm/test/scripted-server.ts';

/** An adapter before a server that speaks its wire format and answers as it is told. */
export type Bench = {
  readonly model: AgentModel;
  readonly server: ScriptedServer;
  close(): Promise<void>;
};

export type Adapter = {
  readonly name: string;
  /** How its servers say that a prompt of 1,500 tokens does not fit into a window of 1,024. */
  readonly overflow: string;
  open(): Promise<Bench>;
};

const apiKey = 'sk-one-agent-0123456789';

/** Every model adapter of this repository. */
export const ADAPTERS: readonly Adapter[] = [
  {
    name: 'agent-vllm',
    overflow:
      "This model's maximum context length is 1024 tokens. However, you requested 100 output tokens and your prompt contains 1500 input tokens, for a total of 1600 tokens.",
    open: async () => {
      const loopback = await loopbackServer();
      const model = vllmModel({ baseUrl: loopback.baseUrl, model: 'm', apiKey, random: () => 0 });
      const close = async (): Promise<void> => {
        model.close();
        await loopback.close();
      };
      return { model, server: vllmServer(loopback), close };
    },
  },
  ...(
    [
      ['responses', responsesServer],
      ['chat', chatServer],
    ] as const
  ).map(([api, serverOf]) => ({
    name: `agent-openai (${api})`,
    overflow: 'Your input exceeds the context window of this model: 1500 tokens, of 1024.',
    open: async () => {
      const loopback = await loopbackServer();
      const { baseUrl } = loopback;
      const model = openaiModel({ api, baseUrl, model: 'm', apiKey, random: () => 0 });
      return { model, server: serverOf(loopback), close: () => loopback.close() };
    },
  })),
  {
    name: 'agent-anthropic',
    overflow: 'prompt is too long: 1500 tokens > 1024 maximum',
    open: async () => {
      const loopback = await loopbackServer();
      const { origin: baseUrl } = loopback;
      const model = anthropicModel({ baseUrl, model: 'm', apiKey, random: () => 0 });
      return { model, server: anthropicServer(loopback), close: () => loopback.close() };
    },
  },
];
