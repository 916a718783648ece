import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import { definePort, type Port } from '../base/port.ts';
import { PRICE_FIELDS, type Prices, picosPerToken } from './prices.ts';

/** What is known of one model, whoever serves it. */
export type CatalogueEntry = {
  /** The `id` of the adapter that asks it, or what its capabilities call their provider. */
  readonly provider: string;
  readonly model: string;
  /** Other names under which the same model answers, such as one with a date. */
  readonly aliases?: readonly string[];
  /** Tokens of input and output together. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly prices?: Prices;
};

/** Facts about models that change without a release: windows and prices. Hexagent ships none; the application brings its own. */
export interface ModelCatalogue {
  /** The entry of a model; without a provider only where the name is one provider's alone. */
  find(model: { readonly provider?: string; readonly model: string }): CatalogueEntry | undefined;
}

export const ModelCatalogue: Port<ModelCatalogue> = definePort<ModelCatalogue>('model-catalogue');

/**
 * A catalogue of a list: `provide: [bind(ModelCatalogue, modelCatalogue([…]))]`.
 *
 * @throws AgentError `INPUT_INVALID` with every problem at once: a name that is blank or taken, a window or a price that
 * is none, prices in two currencies.
 */
export function modelCatalogue(entries: readonly CatalogueEntry[]): ModelCatalogue {
  const problems = entries.flatMap((entry, index) => problemsOf(entry, `entries[${index}]`));
  const named = new Map<string, CatalogueEntry>();
  const byModel = new Map<string, Set<CatalogueEntry>>();
  for (const [index, entry] of entries.entries()) {
    for (const name of namesOf(entry)) {
      const key = keyOf(entry.provider, name);
      if (named.has(key))
        problems.push({
          at: `entries[${index}]`,
          seen: `names "${name}" of "${entry.provider}" a second time.`,
          mend: 'Give each model one entry.',
        });
      named.set(key, entry);
      const same = byModel.get(name) ?? new Set();
      byModel.set(name, same.add(entry));
    }
  }
  const currencies = new Set(entries.flatMap(({ prices }) => prices?.currency ?? []));
  if (currencies.size > 1)
    problems.push({
      at: 'entries',
      seen: `have prices in ${[...currencies].join(' and ')}.`,
      mend: 'Give all prices in one currency: what a run costs is one sum.',
    });
  if (problems.length > 0) throw inputInvalid('The model catalogue', problems);
  return {
    find: ({ provider, model }) => {
      if (provider !== undefined) return named.get(keyOf(provider, model));
      const [only, ...others] = byModel.get(model) ?? [];
      return others.length === 0 ? only : undefined;
    },
  };
}

function keyOf(provider: string, model: string): string {
  return JSON.stringify([provider, model]);
}

function namesOf({ model, aliases = [] }: CatalogueEntry): readonly string[] {
  return [model, ...aliases];
}

function problemsOf(entry: CatalogueEntry, at: string): Problem[] {
  const problems: Problem[] = [];
  const { provider, contextWindow, maxOutputTokens, prices } = entry;
  for (const name of [provider, ...namesOf(entry)])
    if (typeof name !== 'string' || name.trim() === '')
      problems.push({
        at,
        seen: `has the name ${JSON.stringify(name)}.`,
        mend: 'Name provider and model.',
      });
  for (const [field, value] of Object.entries({ contextWindow, maxOutputTokens }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      problems.push({
        at: `${at}.${field}`,
        seen: `is ${String(value)}.`,
        mend: 'Give a whole number of tokens, at least 1.',
      });
  if (prices === undefined) return problems;
  if (typeof prices.currency !== 'string' || prices.currency.trim() === '')
    problems.push({
      at: `${at}.prices.currency`,
      seen: `is ${JSON.stringify(prices.currency)}.`,
      mend: 'Name the currency: "USD".',
    });
  for (const field of PRICE_FIELDS) {
    const price = prices[field];
    const isNeeded = field === 'input' || field === 'output';
    if (price === undefined ? !isNeeded : picosPerToken(price) !== undefined) continue;
    problems.push({
      at: `${at}.prices.${field}`,
      seen: `is ${JSON.stringify(price) ?? 'missing'}.`,
      mend: 'Give the price of a million tokens, with up to six digits behind the point: "0.15".',
    });
  }
  return problems;
}
