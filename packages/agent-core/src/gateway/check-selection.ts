import { modelSelectionRefused } from '../base/error-catalog.ts';
import type { AgentDefinition } from '../definition/agent-definition.ts';
import {
  isSameSelection,
  type ModelSelection,
  namesNothing,
  type Selectable,
  selectionText,
} from '../vocabulary/model-selection.ts';
import type { GatewayParts } from './drive.ts';

/**
 * Holds what a run selects against what the agent, the operator and the model take, before anything is stored.
 *
 * @throws AgentError `MODEL_SELECTION_REFUSED`, with what may be selected.
 */
export function checkSelection(
  { setup, selection: operators }: Pick<GatewayParts, 'setup' | 'selection'>,
  definition: AgentDefinition,
  selection: ModelSelection | undefined,
): void {
  if (selection === undefined || namesNothing(selection)) return;
  const problemOf = (one: ModelSelection): string | undefined =>
    setup.model?.selectionProblem?.(one);
  const refusing = (
    [
      [`the agent "${definition.name}"`, whyNotIn(definition.selection, selection)],
      ['this application', whyNotIn(operators, selection)],
      [`the model "${setup.model?.id}"`, problemOf(selection)],
    ] as const
  ).find(([, why]) => why !== undefined);
  if (refusing?.[1] === undefined) return;
  const [by, why] = refusing;
  const open = [definition.selection, operators].find(Array.isArray) ?? [];
  throw modelSelectionRefused(selectionText(selection), {
    by,
    why: why.replace(/\.$/, ''),
    open: open
      .filter(
        (one) =>
          whyNotIn(definition.selection, one) === undefined &&
          whyNotIn(operators, one) === undefined &&
          problemOf(one) === undefined,
      )
      .map(selectionText),
  });
}

function whyNotIn(selectable: Selectable, selection: ModelSelection): string | undefined {
  if (selectable === undefined) return undefined;
  if (selectable === false || selectable.length === 0) return 'it lets callers select nothing';
  if (selectable.some((one) => isSameSelection(one, selection))) return undefined;
  return 'it is not one of those that are open to callers';
}
