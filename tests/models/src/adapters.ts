import type { AgentModel } from '@hexagent/agent-core';
import type { ScriptedServer } from '@hexagent/agent-core/testing';
import { vllmModel } from '@hexagent/agent-vllm';
import { loopbackServer as vllmLoopback } from '../../../packages/agent-vllm/test/loopback-server.ts';
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
      const loopback = await vllmLoopback();
      const model = vllmModel({ baseUrl: loopback.baseUrl, model: 'm', apiKey, random: () => 0 });
      const close = async (): Promise<void> => {
        model.close();
        await loopback.close();
      };
      return { model, server: vllmServer(loopback), close };
    },
  },
];
