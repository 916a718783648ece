import { type AgentModel, type Binding, bind, Model } from '@hexagent/agent-core';

/** A model without a network: what it streams is the workload's own. */
export function benchModel(stream: AgentModel['stream']): Binding {
  return bind(Model, {
    id: 'bench',
    capabilities: () => ({
      tools: true,
      reasoning: false,
      structuredOutput: 'with-tools',
      inputModalities: ['text'],
    }),
    stream,
  });
}
