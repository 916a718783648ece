import type { AgentError } from '../base/error.ts';
import { costUnavailable, type Problem } from '../base/error-catalog.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import { type AgentModel, Model } from '../model/agent-model.ts';
import { ModelCatalogue } from '../model/catalogue.ts';
import { costText, whyNoPrice } from '../runner/spending.ts';
import type { Cost } from '../vocabulary/cost.ts';
import { type ModelSelection, selectionText } from '../vocabulary/model-selection.ts';
import type { AppConfig } from './app.ts';
import type { PortTable } from './port-table.ts';

/** Holds what may be selected against the model, and limits of cost against the prices that are known. */
export function checkModels(
  { agents, selection }: Pick<AppConfig, 'agents' | 'selection'>,
  ports: PortTable,
): readonly Problem[] {
  const model = ports.find(Model);
  return [
    ...untaken(selection, { at: 'selection', model }),
    ...agents.flatMap((agent, index) => {
      const at = `agents[${index}] (${agent.name})`;
      const unpriced = whyUnpriced(agent, ports);
      return [
        ...untaken(agent.selection, { at: `${at}.selection`, model }),
        ...(unpriced === undefined
          ? []
          : [
              {
                at: `${at}.limits.maxCost`,
                seen: `is ${costText(agent.limits.maxCost as Cost)}, and ${unpriced}.`,
                mend: 'Bind a ModelCatalogue with these prices, or leave the limit out.',
              },
            ]),
      ];
    }),
  ];
}

/** The error of a composition in which nothing but a price is missing. */
export function costMissing(
  agents: readonly AgentDefinition[],
  ports: PortTable,
): AgentError | undefined {
  for (const agent of agents) {
    const why = whyUnpriced(agent, ports);
    if (why !== undefined) return costUnavailable(costText(agent.limits.maxCost as Cost), why);
  }
  return undefined;
}

function untaken(
  selectable: AppConfig['selection'],
  { at, model }: { readonly at: string; readonly model: AgentModel | undefined },
): readonly Problem[] {
  if (selectable === undefined || selectable === false) return [];
  return selectable.flatMap((selection, index): readonly Problem[] => {
    const why = model?.selectionProblem?.(selection);
    if (why === undefined) return [];
    return [
      {
        at: `${at}[${index}]`,
        seen: `is ${selectionText(selection)}, which the model does not take: ${why.replace(/\.$/, '')}.`,
        mend: 'List what the model takes.',
      },
    ];
  });
}

/** Why the cost of an agent's runs cannot be limited, as far as that is known before a call; undefined when nothing speaks against it. */
function whyUnpriced(agent: AgentDefinition, ports: PortTable): string | undefined {
  const { maxCost } = agent.limits;
  const model = ports.find(Model);
  if (maxCost === undefined || model === undefined) return undefined;
  const catalogue = ports.find(ModelCatalogue);
  if (catalogue === undefined) return 'no catalogue of models is bound';
  const selections: readonly (ModelSelection | undefined)[] = [
    undefined,
    ...(agent.selection === undefined || agent.selection === false ? [] : agent.selection),
  ];
  for (const selection of selections) {
    const capabilities = model.capabilities(selection);
    const name = capabilities.model ?? selection?.model;
    if (name === undefined) continue;
    const provider = capabilities.provider ?? model.id;
    const prices = catalogue.find({ provider, model: name })?.prices;
    const why = whyNoPrice(prices, { provider, name, limit: maxCost });
    if (why !== undefined) return why;
  }
  return undefined;
}
