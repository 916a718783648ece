import { costUnavailable, maxCostExceeded } from '../base/error-catalog.ts';
import type { AgentModel } from '../model/agent-model.ts';
import type { CatalogueEntry, ModelCatalogue } from '../model/catalogue.ts';
import { costOf, type Prices } from '../model/prices.ts';
import { addCost, type Cost, reachesCost } from '../vocabulary/cost.ts';
import type { ActiveRun } from './active-run.ts';
import type { ModelAnswer } from './model-answer.ts';

/** Counts what an answer has cost, where the application has prices. Answers the cost, for the answer's evidence. */
export function spend(run: ActiveRun, answer: ModelAnswer): Cost | undefined {
  if (run.setup.catalogue === undefined) return undefined;
  const { counters } = run;
  const prices = pricesOf(run, answer);
  const cost = prices === undefined ? undefined : costOf(answer.usage, prices);
  const sum =
    cost === undefined || counters.cost === undefined ? cost : addCost(counters.cost, cost);
  if (sum === undefined) counters.unpriced = (counters.unpriced ?? 0) + 1;
  else counters.cost = sum;
  return cost;
}

/** Refuses the next call when the run has cost what it may, or when nobody can say what it costs. */
export function checkCost(run: ActiveRun, limit: Cost): void {
  const { cost, unpriced } = run.counters;
  const why = unpriced === undefined ? whyUnpriced(run, limit) : UNPRICED;
  if (why !== undefined) throw costUnavailable(costText(limit), why);
  if (cost === undefined) return;
  const isReached = reachesCost(cost, limit);
  if (isReached === undefined)
    throw costUnavailable(costText(limit), `the run has cost ${costText(cost)}`);
  if (isReached) throw maxCostExceeded(costText(limit), costText(cost));
}

export function costText({ amount, currency }: Cost): string {
  return `${amount} ${currency}`;
}

const UNPRICED = 'what its model calls have cost is not known';

/** Before a call: what can be known of its price without making it. */
function whyUnpriced({ setup, facts }: ActiveRun, limit: Cost): string | undefined {
  const { catalogue } = setup;
  if (catalogue === undefined) return 'no catalogue of models is bound';
  const model = setup.model as AgentModel; // Without one, no run gets as far as a call.
  const { selection } = facts.input;
  const capabilities = model.capabilities(selection);
  const name = capabilities.model ?? selection?.model;
  if (name === undefined) return undefined;
  const provider = capabilities.provider ?? model.id;
  const prices = catalogue.find({ provider, model: name })?.prices;
  return whyNoPrice(prices, { provider, name, limit });
}

/** What is missing in the prices of a model, measured against a limit. */
export function whyNoPrice(
  prices: Prices | undefined,
  {
    provider,
    name,
    limit,
  }: { readonly provider: string; readonly name: string; readonly limit: Cost },
): string | undefined {
  if (prices === undefined) return `the catalogue has no prices of "${name}" by "${provider}"`;
  if (prices.currency === limit.currency) return undefined;
  return `the prices of "${name}" by "${provider}" are in ${prices.currency}`;
}

/** By the name that the answer came under, then by the name that was asked for: some servers add a date to it. */
function pricesOf({ setup, facts }: ActiveRun, answer: ModelAnswer): Prices | undefined {
  const catalogue = setup.catalogue as ModelCatalogue; // Nothing is priced without one.
  const model = setup.model as AgentModel; // It has just answered.
  const { selection } = facts.input;
  const capabilities = model.capabilities(selection);
  const provider = answer.provider ?? capabilities.provider ?? model.id;
  const asked =
    answer.provider === undefined ? (capabilities.model ?? selection?.model) : undefined;
  const entryOf = (name: string): CatalogueEntry | undefined =>
    catalogue.find({ provider, model: name });
  const entry = entryOf(answer.model) ?? (asked === undefined ? undefined : entryOf(asked));
  return entry?.prices;
}
