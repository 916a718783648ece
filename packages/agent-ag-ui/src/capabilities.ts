import { type AgentCapabilities, PROTOCOL_VERSION } from '@ag-ui/core';
import type { AgentDescription } from '@hexagent/agent-core';
import { VERSION } from './version.ts';

/**
 * What an agent can do, in the protocol's own form. What depends on the model (reasoning, media) is left out: absent means that
 * nobody says.
 */
export function capabilitiesOf(agent: AgentDescription): AgentCapabilities {
  const { name, description, objective, durable, tools, accepts } = agent;
  const words = description ?? objective;
  return {
    identity: {
      name,
      type: 'hexagent',
      version: VERSION,
      ...(words === undefined ? {} : { description: words }),
    },
    transport: {
      streaming: true,
      websocket: false,
      httpBinary: false,
      pushNotifications: false,
      resumable: durable,
    },
    tools: {
      supported: tools.length > 0 || durable,
      items: tools.map((tool) => ({ name: tool.name, description: tool.description })),
      parallelCalls: true,
      clientProvided: durable,
    },
    state: { snapshots: true, deltas: true, memory: durable, persistentState: false },
    humanInTheLoop: {
      supported: durable,
      approvals: durable,
      interrupts: durable,
      approveWithEdits: durable,
      feedback: false,
      interventions: durable && accepts.includes('user-message'),
    },
    custom: { protocolVersion: PROTOCOL_VERSION },
  };
}
