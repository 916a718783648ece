import { definitionInvalid, toolInputInvalid } from '../base/error-catalog.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { type ContextOverrides, detachedContext } from '../tools/detached-context.ts';
import { invokeTool } from '../tools/invoke-tool.ts';
import type { WaitFor } from '../tools/suspend.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import type { JsonPatch } from '../vocabulary/state.ts';

/** What a tool did when it was called by itself. */
export type ToolCall = {
  /** What it returned, as JSON; undefined when it suspended. */
  readonly value: JsonValue | undefined;
  /** What it waits for, when it returned `suspend(…)`. */
  readonly wait: WaitFor | undefined;
  readonly progress: readonly { readonly message: string; readonly detail?: JsonValue }[];
  readonly artifacts: readonly Parameters<ToolContext['artifact']>[0][];
  /** What it asked of the shared state, in order. */
  readonly patches: readonly JsonPatch[];
};

/**
 * Calls a tool by itself, as a run would: the input is validated and completed, the result becomes JSON and is held against the
 * declared output. `deps` are the tool's own ports; everything else of the context has a stand-in that may be given instead.
 *
 * @throws the tool's failure as an `AgentError` (`TOOL_INPUT_INVALID`, `TOOL_FAILED`, `TOOL_OUTPUT_INVALID` or its own)
 */
export async function callTool<I, D>(
  tool: Tool<I, D>,
  input: NoInfer<I>,
  options: { readonly deps?: NoInfer<D> } & ContextOverrides = {},
): Promise<ToolCall> {
  const { deps = {}, ...given } = options;
  const missing = Object.keys(tool.needs).filter((name) => !Object.hasOwn(deps as object, name));
  if (missing.length > 0) {
    throw definitionInvalid(
      'callTool',
      missing.map((name) => ({
        at: 'deps',
        seen: `has no "${name}", which "${tool.name}" needs.`,
        mend: 'Give a fake of it.',
      })),
    );
  }
  const bound = tool.definition.bindInput(input as JsonObject);
  if (!bound.ok) throw toolInputInvalid(tool.name, bound.problems);

  const progress: { readonly message: string; readonly detail?: JsonValue }[] = [];
  const artifacts: Parameters<ToolContext['artifact']>[0][] = [];
  const patches: JsonPatch[] = [];
  const context = detachedContext('test', {
    deps,
    overrides: {
      progress: (message, detail) =>
        void progress.push(detail === undefined ? { message } : { message, detail }),
      artifact: (artifact) => void artifacts.push(artifact),
      state: { get: () => ({}), patch: (operations) => void patches.push(...operations) },
      ...given,
    },
  });
  const outcome = await invokeTool(tool as Tool, bound.input, context);
  if (outcome.kind === 'error') throw outcome.error;
  return {
    value: outcome.kind === 'ok' ? outcome.value : undefined,
    wait: outcome.kind === 'suspended' ? outcome.wait : undefined,
    progress,
    artifacts,
    patches,
  };
}
