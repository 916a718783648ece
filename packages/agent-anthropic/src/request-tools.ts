import type { Tool, ToolChoice, ToolUnion } from '@anthropic-ai/sdk/resources/messages/messages';
import type { JsonObject, ModelRequest, ModelTool } from '@hexagent/agent-core';
import {
  modelRequestInvalid,
  toolNameCollision,
  type WireNames,
  wireNames,
} from '@hexagent/agent-core/adapter';
import { grammarSchema } from './output-schema.ts';
import type { Settings } from './settings.ts';

export type RequestTools = {
  readonly toName: WireNames['toName'];
  /** The provider's own first, so that a mark on the last one covers all. */
  readonly tools: readonly ToolUnion[];
  readonly choice: ToolChoice | undefined;
};

/** Writes the tools of requests; keeps what does not change between the steps of a run. */
export function requestTools(settings: Settings): (request: ModelRequest) => RequestTools {
  const kept = new WeakMap<
    readonly ModelTool[],
    { names: WireNames; tools: readonly ToolUnion[] }
  >();
  return (request) => {
    const known = kept.get(request.tools) ?? wireTools(request.tools, settings);
    kept.set(request.tools, known);
    const { names, tools } = known;
    return { tools, toName: names.toName, choice: choiceOf(request, { names, tools, settings }) };
  };
}

function wireTools(
  tools: readonly ModelTool[],
  settings: Settings,
): { names: WireNames; tools: readonly ToolUnion[] } {
  const names = wireNames(tools.map(({ name }) => name));
  if ('problems' in names) throw toolNameCollision(names.problems);
  const own = tools.map(({ name, description, parameters }): Tool => {
    const schema = settings.strictTools ? grammarSchema(parameters) : parameters;
    return {
      name: names.toWire(name),
      description,
      input_schema: { ...schema, type: 'object' },
      ...(settings.strictTools ? { strict: true } : {}),
    };
  });
  return { names, tools: [...settings.serverTools.map(asGiven), ...own] };
}

/** The cast: the provider's own tools are many and change; the provider checks them. */
function asGiven(tool: JsonObject): ToolUnion {
  return tool as unknown as ToolUnion;
}

function choiceOf(
  request: ModelRequest,
  from: {
    readonly names: WireNames;
    readonly tools: readonly ToolUnion[];
    readonly settings: Settings;
  },
): ToolChoice | undefined {
  const { toolChoice } = request;
  const { names, tools, settings } = from;
  const isForced = toolChoice !== 'auto' && toolChoice !== 'none';
  if (isForced) refuseForced(request, settings);
  if (tools.length === 0) return undefined;
  const single = settings.parallelTools ? {} : { disable_parallel_tool_use: true };
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === 'auto') return { type: 'auto', ...single };
  if (toolChoice === 'required') return { type: 'any', ...single };
  return { type: 'tool', name: names.toWire(toolChoice.name), ...single };
}

function refuseForced({ toolChoice, tools }: ModelRequest, settings: Settings): void {
  if (tools.length === 0) {
    throw modelRequestInvalid({
      reason: `toolChoice is ${JSON.stringify(toolChoice)}, but no tool is offered`,
      mend: 'Offer the tool, or use "auto".',
    });
  }
  if (typeof toolChoice !== 'string' && !tools.some(({ name }) => name === toolChoice.name)) {
    throw modelRequestInvalid({
      reason: `toolChoice names "${toolChoice.name}", which is not offered`,
      mend: `Choose one of ${tools.map(({ name }) => name).join(', ')}.`,
    });
  }
  if (settings.thinking?.type === 'enabled') {
    throw modelRequestInvalid({
      reason: `toolChoice is ${JSON.stringify(toolChoice)}, which the provider does not take beside thinking with a budget`,
      mend: 'Use thinking: { type: "adaptive" }, or toolChoice "auto".',
    });
  }
}
