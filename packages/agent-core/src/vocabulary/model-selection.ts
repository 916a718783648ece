import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';

/** A caller's choice among what the model adapter offers; the agent itself owns no model name. */
export type ModelSelection = {
  readonly provider?: string;
  readonly model?: string;
  readonly profile?: string;
};

/** What may be selected: nothing, one of a list, or whatever the model takes. */
export type Selectable = false | readonly ModelSelection[] | undefined;

/** A tool as a model sees it. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

const FIELDS = ['provider', 'model', 'profile'] as const;

/** What is wrong with a selection, wherever it stands. */
export function selectionProblems(given: unknown, at: string): readonly Problem[] {
  if (!isJsonObject(given))
    return [{ at, seen: `is ${shown(given)}.`, mend: 'Send an object of names.' }];
  return Object.entries(given).flatMap(([field, value]): readonly Problem[] => {
    const place = `${at}.${field}`;
    if (!(FIELDS as readonly string[]).includes(field))
      return [{ at: place, seen: 'is not known.', mend: `Known here: ${FIELDS.join(', ')}.` }];
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return [];
    return [
      { at: place, seen: `is ${shown(value)}.`, mend: 'Name it with a text, or leave it out.' },
    ];
  });
}

/** What is wrong with a list of what may be selected. */
export function selectableProblems(given: unknown, at: string): readonly Problem[] {
  if (given === undefined || given === false) return [];
  if (!Array.isArray(given))
    return [{ at, seen: `is ${shown(given)}.`, mend: 'Say false, or list selections.' }];
  return given.flatMap((item: unknown, index) => {
    const place = `${at}[${index}]`;
    const problems = selectionProblems(item, place);
    if (problems.length > 0 || !namesNothing(item as ModelSelection)) return problems;
    return [
      { at: place, seen: 'selects nothing.', mend: 'Name a provider, a model or a profile.' },
    ];
  });
}

/** A selection without a name is none. */
export function namesNothing(selection: ModelSelection): boolean {
  return FIELDS.every((field) => selection[field] === undefined);
}

/** The same names in every field. */
export function isSameSelection(left: ModelSelection, right: ModelSelection): boolean {
  return FIELDS.every((field) => left[field] === right[field]);
}

/** A selection in words: `{"model":"m"}`. */
export function selectionText({ provider, model, profile }: ModelSelection): string {
  return JSON.stringify({ provider, model, profile });
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? `a value of type ${typeof value}`;
}
