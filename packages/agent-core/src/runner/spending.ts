import { costUnavailable, maxCostExceeded } from '../base/error-catalog.ts';
import type { AgentModel } from '../model/agent-model.ts';
import type { CatalogueEntry, ModelCatalogue } from '../model/catalogue.ts';
import { costOf, type Prices } from '../model/prices.ts';
import { addCost, type Cost, reachesCost } from '../vocabulary/cost.ts';
import type { ModelSelection } from '../vocabulary/model-selection.ts';
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
function pricesOf(run: ActiveRun, answer: ModelAnswer): Prices | undefined {
  const catalogue = run.setup.catalogue as ModelCatalogue; // Nothing is priced without one.
  const { provider, name: asked } = askedOf(run, answer);
  const entryOf = (name: string): CatalogueEntry | undefined =>
    catalogue.find({ provider, model: name });
  const entry = entryOf(answer.model) ?? (asked === undefined ? undefined : entryOf(asked));
  return entry?.prices;
}

type Asked = { readonly provider: string; readonly name: string | undefined };

/** Who was asked for an answer, and under which name, where that is known. */
function askedOf({ setup, facts }: ActiveRun, { provider, model: answered }: ModelAnswer): Asked {
  const model = setup.model as AgentModel; // It has just answered.
  const { selection } = facts.input;
  if (provider === undefined) {
    const capabilities = model.capabilities(selection);
    return {
      provider: capabilities.provider ?? model.id,
      name: capabilities.model ?? selection?.model,
    };
  }
  // One of several: what they say together may be true of another one than that which has answered, so the names must agree.
  const names = [nameBehind(model, { ...selection, provider }), selection?.model];
  return { provider, name: names.find((name) => name !== undefined && isDated(answered, name)) };
}

/** The name that a model of several asks a certain provider for. */
function nameBehind(
  model: AgentModel,
  selection: ModelSelection & { readonly provider: string },
): string | undefined {
  if (model.selectionProblem?.(selection) !== undefined) return undefined;
  return model.capabilities(selection).model;
}

const RELEASE = /^[-@]\d{4}-?\d{2}-?\d{2}$/;

/** Whether a name is the other one with the date of a release: `large-2026-10-21`, `large@20261021`. */
function isDated(name: string, plain: string): boolean {
  return name.startsWith(plain) && RELEASE.test(name.slice(plain.length));
}
