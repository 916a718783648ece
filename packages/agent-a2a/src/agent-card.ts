import type { AgentCard, AgentSkill } from '@a2a-js/sdk';
import { A2A_PROTOCOL_VERSION } from '@a2a-js/sdk';
import type { AgentDefinition } from '@hexagent/agent-core';
import type { A2aOptions } from './options.ts';

/**
 * The card of an agent: what it is for, what it can do, and where. Capabilities are what this package
 * serves: no streaming, no push notifications, no extended card.
 */
export function agentCard(
  { agent, version = '1.0.0', card = {} }: Pick<A2aOptions, 'agent' | 'version' | 'card'>,
  url: string,
): AgentCard {
  return {
    name: agent.name,
    description: agent.objective ?? agent.description ?? agent.name,
    version,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: A2A_PROTOCOL_VERSION, tenant: '' },
    ],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [],
    },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: skillsOf(agent),
    provider: undefined,
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    ...card,
  };
}

/** One skill a tool; an agent without tools has one, which is itself. A tool that is another agent is not told. */
function skillsOf(agent: AgentDefinition): AgentSkill[] {
  const skills = agent.tools
    .filter(({ runs }) => runs !== 'agent')
    .map(({ name, definition }) =>
      skill(name, definition.description, [
        ...definition.permissions,
        definition.effects.access,
        definition.effects.externality,
        definition.idempotency,
      ]),
    );
  if (skills.length > 0) return skills;
  return [skill(agent.name, agent.objective ?? agent.description ?? agent.name, ['agent'])];
}

function skill(name: string, description: string, tags: string[]): AgentSkill {
  return {
    id: name,
    name,
    description: description === '' ? name : description,
    tags,
    examples: [],
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
