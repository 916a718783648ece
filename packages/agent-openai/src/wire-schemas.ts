import type { JsonObject, ModelRequest, ModelTool } from '@hexagent/agent-core';
import {
  toolNameCollision,
  type WireNames,
  wireName,
  wireNames,
} from '@hexagent/agent-core/adapter';
import type { Restore } from './restored-calls.ts';
import { strictSchema } from './strict/strict-schema.ts';
import { isObjectRoot, unwrapped, wrapped } from './strict/wrapped-schema.ts';

/** A tool as both APIs name it. */
export type WireTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: { [key: string]: unknown };
  readonly strict: boolean;
};

export type WireTools = {
  readonly names: WireNames;
  readonly tools: readonly WireTool[];
  /** The way back of the tools whose strict schema differs, by the application's name. */
  readonly restores: ReadonlyMap<string, Restore>;
};

export type WireOutput = {
  readonly name: string;
  readonly schema: { [key: string]: unknown };
  readonly strict: boolean;
  readonly restore?: Restore;
};

/** The tools and outputs of requests in the form of the wire; what does not change between the steps of a run is made once. */
export interface WireSchemas {
  tools(tools: readonly ModelTool[]): WireTools;
  output(output: NonNullable<ModelRequest['output']>): WireOutput;
}

export function wireSchemas(isStrict: boolean): WireSchemas {
  const keptTools = new WeakMap<readonly ModelTool[], WireTools>();
  const keptOutputs = new WeakMap<JsonObject, Omit<WireOutput, 'name'>>();
  return {
    tools(tools) {
      const known = keptTools.get(tools);
      if (known !== undefined) return known;
      const made = toolsOf(tools, isStrict);
      keptTools.set(tools, made);
      return made;
    },
    output({ name, schema }) {
      const known = keptOutputs.get(schema);
      const made = known ?? outputOf(schema, isStrict);
      if (known === undefined) keptOutputs.set(schema, made);
      return { name: wireName(name), ...made };
    },
  };
}

function toolsOf(tools: readonly ModelTool[], isStrict: boolean): WireTools {
  const names = wireNames(tools.map(({ name }) => name));
  if ('problems' in names) throw toolNameCollision(names.problems);
  const restores = new Map<string, Restore>();
  const wire = tools.map(({ name, description, parameters }): WireTool => {
    const strict = isStrict ? strictSchema(parameters) : undefined;
    if (strict?.isChanged === true) restores.set(name, strict.restore);
    return {
      name: names.toWire(name),
      description,
      parameters: strict?.schema ?? parameters,
      strict: strict !== undefined,
    };
  });
  return { names, tools: wire, restores };
}

function outputOf(schema: JsonObject, isStrict: boolean): Omit<WireOutput, 'name'> {
  const strict = isStrict ? strictSchema(schema, { wrap: true }) : undefined;
  if (strict !== undefined) {
    const { isChanged, restore } = strict;
    return { schema: strict.schema, strict: true, ...(isChanged ? { restore } : {}) };
  }
  if (isObjectRoot(schema)) return { schema, strict: false };
  return { schema: wrapped(schema), strict: false, restore: unwrapped };
}
