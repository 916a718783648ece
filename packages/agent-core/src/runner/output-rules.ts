import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AgentModel, ModelRequest } from '../model/agent-model.ts';
import type { ActiveRun } from './active-run.ts';

/** What the next request says about the final answer. */
export type OutputPlan = {
  readonly output: ModelRequest['output'];
  /** False when a schema must be sent to a model on which it would suppress tool calls. */
  readonly withTools: boolean;
};

/**
 * A schema constrains only the final answer. Where a model takes it beside tools, it is always sent;
 * where it would suppress tool calls (vLLM's grammar), it is sent when there are no tools, or after an
 * answer came without calls and did not fit.
 */
export function outputPlan(run: ActiveRun): OutputPlan {
  const { definition, input } = run.facts;
  if (definition.output === undefined) return { output: undefined, withTools: true };
  const output = {
    name: `${definition.name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_output`,
    schema: definition.output.schema,
  };
  const support = (run.setup.model as AgentModel).capabilities(input.selection).structuredOutput;
  if (support === 'with-tools') return { output, withTools: true };
  if (support === 'none') return { output: undefined, withTools: true };
  if (run.catalogue.modelTools.length === 0) return { output, withTools: true };
  return run.counters.outputRetries > 0
    ? { output, withTools: false }
    : { output: undefined, withTools: true };
}

export type OutputCheck =
  | { readonly ok: true; readonly output: JsonValue | undefined }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a final text as the declared output: JSON, alone or in one fenced block, that fits the schema. */
export function readOutput(run: ActiveRun, text: string): OutputCheck {
  const declared = run.facts.definition.output;
  if (declared === undefined) return { ok: true, output: undefined };
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text));
  } catch {
    return { ok: false, problems: ['the answer is not JSON'] };
  }
  const checked = declared.check(value);
  if (!checked.ok) return { ok: false, problems: checked.problems };
  return { ok: true, output: checked.value as JsonValue };
}

/** What the model is told after an answer that did not fit. */
export function outputComplaint(problems: readonly string[], schema: JsonObject): string {
  return [
    'The answer does not fit the required output:',
    ...problems.map((problem) => `- ${problem}`),
    'Answer again with JSON only, fitting this schema:',
    JSON.stringify(schema),
  ].join('\n');
}

function unfenced(text: string): string {
  const fence = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return fence?.[1] ?? text;
}
