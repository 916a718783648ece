import { type Problem, persistenceMissing } from '../base/error-catalog.ts';
import type { AnyPort } from '../base/port.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import { Durability } from '../durable/durable-store.ts';
import { Sealer } from '../durable/sealer.ts';
import { Model } from '../model/agent-model.ts';
import { ToolSource } from '../sources/tool-source.ts';
import type { PortTable } from './port-table.ts';

/** Holds every agent against what is bound. */
export function checkAgents(
  agents: readonly AgentDefinition[],
  ports: PortTable,
): readonly Problem[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  const sources = sourceIds(problems, ports);
  const model = ports.find(Model);
  for (const [index, agent] of agents.entries()) {
    const at = `agents[${index}] (${agent.name})`;
    if (names.has(agent.name))
      problems.push({
        at,
        seen: 'has the name of another agent.',
        mend: 'Give each agent a name of its own.',
      });
    names.add(agent.name);
    if (agent.execute === undefined && model === undefined) {
      problems.push({
        at,
        seen: 'needs a model, and nothing is bound to the port "model".',
        mend: 'Add a model plugin: npm install @hexagent/agent-vllm, then vllm({ baseUrl: "http://127.0.0.1:8000/v1" }).',
      });
    }
    if (
      agent.execute === undefined &&
      model?.capabilities().tools === false &&
      agent.tools.length > 0
    ) {
      problems.push({
        at,
        seen: `has tools, and the model "${model.id}" takes none.`,
        mend: 'Use a model that calls tools, or leave the tools out.',
      });
    }
    for (const [name, port] of Object.entries(agent.needs))
      needed(problems, { at: `${at}.needs.${name}`, port, ports });
    for (const tool of agent.tools) {
      for (const [name, port] of Object.entries(tool.needs))
        needed(problems, { at: `${at}.tools "${tool.name}".needs.${name}`, port, ports });
    }
    for (const id of agent.toolSources) {
      if (!sources.has(id))
        problems.push({
          at: `${at}.toolSources`,
          seen: `names "${id}", which is not bound.`,
          mend: `Bound sources: ${[...sources].join(', ') || 'none'}.`,
        });
    }
    if (agent.durable && !ports.has(Sealer.id)) secrets(problems, { at, agent });
  }
  return [...problems, ...durability(agents, ports)];
}

/** The ids that an agent may name: each means one source. */
function sourceIds(problems: Problem[], ports: PortTable): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { id } of ports.all(ToolSource)) {
    if (ids.has(id))
      problems.push({
        at: 'tool sources',
        seen: `have the id "${id}" more than once.`,
        mend: 'Give each source an id of its own.',
      });
    ids.add(id);
  }
  return ids;
}

function needed(
  problems: Problem[],
  { at, port, ports }: { readonly at: string; readonly port: AnyPort; readonly ports: PortTable },
): void {
  if (port.arity === 'many' || ports.has(port.id)) return;
  problems.push({
    at,
    seen: `needs "${port.id}", which nothing provides.`,
    mend: `Add provide: [bind(…)] for it, or a plugin that contributes "${port.id}".`,
  });
}

/** Arguments are stored as they are: a secret among them would lie in the database. */
function secrets(
  problems: Problem[],
  { at, agent }: { readonly at: string; readonly agent: AgentDefinition },
): void {
  for (const { name, definition } of agent.tools) {
    const paths = definition.inputMarks
      .filter(({ field }) => field.kind === 'secret')
      .map(({ path }) => path.join('.'));
    if (paths.length === 0) continue;
    problems.push({
      at: `${at}.tools "${name}"`,
      seen: `takes a secret (${paths.join(', ')}), the agent is durable, and no sealer is bound.`,
      mend: 'Bind a Sealer, or let the tool fetch the secret itself through a port.',
    });
  }
}

function durability(agents: readonly AgentDefinition[], ports: PortTable): readonly Problem[] {
  if (ports.has(Durability.id)) return [];
  const durable = agents.filter((agent) => agent.durable).map(({ name }) => name);
  if (durable.length === 0) return [];
  const { message, mend } = persistenceMissing(durable);
  return [{ at: 'agents', seen: message, mend }];
}
