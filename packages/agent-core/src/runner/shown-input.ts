import type { JsonObject } from '../base/json.ts';
import { CONTEXT_EXPOSURE } from '../guard/exposure.ts';
import { guardValue } from '../guard/guard-value.ts';
import type { Tool } from '../tools/tool.ts';

/** The arguments of a call as a person or a log may see them: marked fields masked. */
export function shownInput(tool: Tool, input: JsonObject): JsonObject {
  const { inputMarks } = tool.definition;
  return inputMarks.length === 0
    ? input
    : (guardValue(input, inputMarks, CONTEXT_EXPOSURE) as JsonObject);
}
