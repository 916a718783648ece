import type { Problem } from '../base/error-catalog.ts';
import { canonicalJson } from '../base/json.ts';
import { sha256Hex } from '../base/sha256.ts';
import type { ModelTool } from '../vocabulary/model-selection.ts';
import type { Tool } from './tool.ts';

/** The tools of an agent or a run, by name. */
export interface ToolCatalogue {
  /** In the order of their names, whatever order they were given in. */
  readonly tools: readonly Tool[];
  readonly names: readonly string[];
  /** As a model is told of them. */
  readonly modelTools: readonly ModelTool[];
  get(name: string): Tool | undefined;
}

export type CatalogueReading =
  | { readonly ok: true; readonly catalogue: ToolCatalogue }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Collects tools under their names. Two tools of one name, and what is no tool, are problems, all at once.
 *
 * @param at how problems name the list: `defineAgent("x").tools`
 */
export function toolCatalogue(tools: readonly Tool[], at: string): CatalogueReading {
  const byName = new Map<string, Tool>();
  const problems: Problem[] = [];
  tools.forEach((tool, index) => {
    if (typeof tool?.definition !== 'object' || typeof tool.execute !== 'function') {
      problems.push({
        at: `${at}[${index}]`,
        seen: 'is not a tool.',
        mend: 'Make it with defineTool or clientTool.',
      });
    } else if (byName.has(tool.name)) {
      problems.push({
        at: `${at}[${index}]`,
        seen: `is a second tool named "${tool.name}".`,
        mend: 'Give each tool a name of its own, or leave one out.',
      });
    } else byName.set(tool.name, tool);
  });
  if (problems.length > 0) return { ok: false, problems };
  const sorted = [...byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  return {
    ok: true,
    catalogue: Object.freeze({
      tools: Object.freeze(sorted),
      names: Object.freeze(sorted.map(({ name }) => name)),
      modelTools: Object.freeze(sorted.map(modelTool)),
      get: (name: string) => byName.get(name),
    }),
  };
}

/**
 * One text for what a stored call of this tool relies on: `name@digest`. It changes with the input and output schemas, the
 * effects, the idempotency, and with whether it resumes; not with the description, which only the model reads.
 */
export function toolIdentity({ name, runs, definition }: Tool): string {
  const { inputSchema, outputSchema, effects, idempotency, resume } = definition;
  const resumes = definition.resumeCall === undefined ? {} : { resumes: true };
  const relied = { runs, inputSchema, outputSchema, effects, idempotency, resume, ...resumes };
  return `${name}@${sha256Hex(canonicalJson(relied)).slice(0, 16)}`;
}

function modelTool({ name, definition }: Tool): ModelTool {
  return Object.freeze({
    name,
    description: definition.description,
    parameters: definition.inputSchema,
  });
}
