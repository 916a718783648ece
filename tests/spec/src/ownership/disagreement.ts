import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { RULES } from '../../models/ownership/model.mjs';
import { followModel } from './follow-model.ts';
import { ModelSide } from './model-side.ts';
import { history } from './operation.ts';
import type { TimedStore } from './stores.ts';

/**
 * The shortest history found in which a store and the model do not say the same, with what each said;
 * undefined when they agree in all of `runs` random histories.
 */
export async function disagreement(
  store: TimedStore,
  options: { readonly runs: number; readonly seed?: number; readonly rules?: typeof RULES },
): Promise<string | undefined> {
  const { runs, seed = 1, rules } = options;
  const agreed = fc.asyncProperty(history, async (one) => {
    const told = await followModel(store.side(), one, new ModelSide(rules));
    for (const { what, model, store: stored } of told) {
      if (isDeepStrictEqual(model, stored)) continue;
      throw new Error(
        `${told.map((step) => step.what).join(' · ')}\n${what}\nmodel: ${JSON.stringify(model)}\nstore: ${JSON.stringify(stored)}`,
      );
    }
  });
  const result = await fc.check(agreed, { numRuns: runs, seed });
  return result.failed ? String(result.errorInstance) : undefined;
}
