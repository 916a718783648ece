import type { AgentDescription, App, Caller } from '@hexagent/agent-core';
import { UsageError } from '../usage-error.ts';

/** The named agent, whether it is there or not, or the only one there is. */
export function chooseAgent(
  { app, caller }: { readonly app: App; readonly caller: Caller },
  { name, example }: { readonly name: string | undefined; readonly example: string },
): string {
  if (name !== undefined) return name;
  const agents = app.runs.agents(caller);
  const [only] = agents;
  if (only !== undefined && agents.length === 1) return only.name;
  if (only === undefined)
    throw new UsageError(
      'The configuration has no agents.',
      'Make one with defineAgent and add it to `agents`.',
    );
  throw new UsageError(
    `No agent was named, and there are ${agents.length}: ${namesOf(agents)}.`,
    `Name one: ${example}`,
  );
}

function namesOf(agents: readonly AgentDescription[]): string {
  return agents.map(({ name }) => name).join(', ');
}
