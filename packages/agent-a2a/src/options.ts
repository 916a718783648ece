import type { AgentCard } from '@a2a-js/sdk';
import type { AgentDefinition } from '@hexagent/agent-core';

export type A2aOptions = {
  /** The agent that is offered. It is also one of `bootstrap({ agents })`. */
  readonly agent: AgentDefinition;
  /** The address under which clients reach the host, without a path. Default: the one that the card is asked at, which only suits one machine. */
  readonly baseUrl?: string;
  /** Where JSON-RPC is served. Default `/a2a`. */
  readonly basePath?: string;
  /** The version of the agent, for its card. Default `1.0.0`. */
  readonly version?: string;
  /** What only the operator knows: who provides the agent, and how a client authenticates. */
  readonly card?: Partial<
    Pick<
      AgentCard,
      'provider' | 'documentationUrl' | 'iconUrl' | 'securitySchemes' | 'securityRequirements'
    >
  >;
};

/** Where clients look for the card of an agent. */
export const CARD_PATH = '/.well-known/agent-card.json';
