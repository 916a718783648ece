import {
  definitionInvalid,
  type Problem,
  toolInputInvalid,
  toolPermissionDenied,
  toolUnknown,
} from '../base/error-catalog.ts';
import type { JsonObject } from '../base/json.ts';
import { type CatalogueReading, toolCatalogue } from './catalogue.ts';
import { type ContextOverrides, detachedContext } from './detached-context.ts';
import { invokeTool, type ToolOutcome } from './invoke-tool.ts';
import { parseArguments } from './parse-arguments.ts';
import type { Tool } from './tool.ts';

/** A call as a model asks for it: the arguments parsed, or still as text. */
export type ToolRequest = { readonly name: string; readonly arguments: JsonObject | string };

/** Finds, binds and runs tools by the name that a model uses: a building block for one's own loops. */
export interface ToolDispatcher {
  readonly names: readonly string[];
  /**
   * Runs one call. What the caller got wrong is thrown (`TOOL_UNKNOWN`, `TOOL_INPUT_INVALID`,
   * `TOOL_PERMISSION_DENIED`): the tool did not run. What the tool did is the outcome.
   */
  dispatch(request: ToolRequest, context?: ContextOverrides): Promise<ToolOutcome>;
}

/**
 * A dispatcher over some tools, without a run: nothing is stored and nobody is asked. Whether a call needs an approval says
 * `planApproval`, before.
 *
 * @param options `deps`: the values for the tools' `needs`, by the same names
 * @throws DEFINITION_INVALID when two tools share a name, or a need is not among `deps`
 */
export function toolDispatcher(options: {
  readonly tools: readonly Tool[];
  readonly deps?: Readonly<Record<string, unknown>>;
}): ToolDispatcher {
  const { tools, deps = {} } = options;
  const reading = toolCatalogue(tools, 'toolDispatcher.tools');
  const problems = [...(reading.ok ? [] : reading.problems), ...missingDeps(reading, deps)];
  if (!reading.ok || problems.length > 0) throw definitionInvalid('toolDispatcher', problems);
  const { catalogue } = reading;
  return {
    names: catalogue.names,
    dispatch: async (request, overrides = {}) => {
      const tool = catalogue.get(request.name);
      if (tool === undefined) throw toolUnknown(request.name, catalogue.names);
      const context = detachedContext('dispatcher', { deps, overrides });
      const missing = missingPermissions(tool, context.principal.permissions);
      if (missing.length > 0) throw toolPermissionDenied(tool.name, missing);
      return invokeTool(tool, boundInput(tool, request.arguments), context);
    },
  };
}

/** The permissions that a tool asks for and a principal does not have. */
export function missingPermissions(tool: Tool, held: readonly string[]): readonly string[] {
  return tool.definition.permissions.filter((name) => !held.includes(name));
}

function missingDeps(
  reading: CatalogueReading,
  deps: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  if (!reading.ok) return [];
  return reading.catalogue.tools.flatMap((tool) =>
    Object.keys(tool.needs)
      .filter((name) => deps[name] === undefined)
      .map((name) => ({
        at: 'toolDispatcher.deps',
        seen: `has no "${name}", which the tool "${tool.name}" needs.`,
        mend: `Give it: toolDispatcher({ tools, deps: { ${name} } }).`,
      })),
  );
}

function boundInput(tool: Tool, given: JsonObject | string): JsonObject {
  const parsed =
    typeof given === 'string' ? parseArguments(given) : ({ ok: true, payload: given } as const);
  if (!parsed.ok) throw toolInputInvalid(tool.name, [parsed.problem]);
  const bound = tool.definition.bindInput(parsed.payload);
  if (!bound.ok) throw toolInputInvalid(tool.name, bound.problems);
  return bound.input;
}
