import type { Problem } from '../base/error-catalog.ts';
import type { AgentModel } from './agent-model.ts';

/** A model, and where it stands in the options. */
export type PlacedModel = { readonly at: string; readonly model: AgentModel };

/** The name under which selections, prices and telemetry know who is behind a model. */
export function providerOf(model: AgentModel): string {
  return model.capabilities().provider ?? model.id;
}

/**
 * Two addresses under one name of a provider: their prices, selections and records would be mixed up, and opaque state of the
 * one would be sent to the other. Models of one address share its name, whatever they are called; a model that tells no address
 * is left alone.
 */
export function sharedNames(models: readonly PlacedModel[]): readonly Problem[] {
  const first = new Map<string, PlacedModel>();
  return models.flatMap((placed): readonly Problem[] => {
    const { at, model } = placed;
    if (model.address === undefined) return [];
    const name = providerOf(model);
    const other = first.get(name);
    if (other === undefined) first.set(name, placed);
    if (other === undefined || other.model.address === model.address) return [];
    return [
      {
        at,
        seen: `asks ${model.address} as "${name}", and ${other.at} asks ${other.model.address} under the same name.`,
        mend: `Give one of them an id of its own: { id: "${name}-2" }.`,
      },
    ];
  });
}
