import { AgentError } from '../base/error.ts';
import { toolFailed, toolOutputInvalid } from '../base/error-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import {
  type DataPart,
  isMediaPart,
  type MediaPart,
  type Part,
  type TextPart,
} from '../vocabulary/message.ts';
import type { ToolContext } from '../vocabulary/run-context.ts';
import { isSuspended, type WaitFor } from './suspend.ts';
import type { Carried, Tool, ToolDefinition } from './tool.ts';

/** How a tool's function ended. */
export type ToolOutcome =
  | { readonly kind: 'ok'; readonly value: JsonValue }
  | { readonly kind: 'suspended'; readonly wait: WaitFor }
  | { readonly kind: 'error'; readonly error: AgentError };

/**
 * Runs a tool's function once on bound input (`definition.bindInput`), and turns whatever it does into an outcome: nothing is thrown.
 *
 * - what it returns becomes JSON (see `toJson`) and is held against the declared output: else `TOOL_OUTPUT_INVALID`;
 * - an `AgentError` is kept, anything else that it throws is `TOOL_FAILED` with its message;
 * - a tool that answers at once costs no turn of the event loop: the outcome itself is answered, not a promise of it.
 */
export function invokeTool(
  tool: Tool,
  input: JsonObject,
  context: ToolContext,
): ToolOutcome | Promise<ToolOutcome> {
  return normaliseOutcome(tool, () => tool.execute(input as never, context as never));
}

/**
 * Goes on with a call that was suspended, by the tool's `resume`. A tool without one has nothing left to do: the answer
 * is its result, and a wait that was declined or has expired is a failure.
 */
export function resumeTool(
  tool: Tool,
  input: JsonObject,
  options: { readonly carried: Carried; readonly context: ToolContext },
): ToolOutcome | Promise<ToolOutcome> {
  const { resumeCall } = tool.definition;
  const { carried, context } = options;
  if (resumeCall !== undefined)
    return normaliseOutcome(tool, () => resumeCall(input as never, carried, context as never));
  const { resolution } = carried;
  if (resolution.kind === 'resolved') return outcomeOf(tool.definition, resolution.value);
  const why =
    resolution.kind === 'expired'
      ? 'what it waited for did not come in time'
      : `what it waited for was declined${resolution.reason === undefined ? '' : `: ${resolution.reason}`}`;
  return { kind: 'error', error: toolFailed(tool.name, why) };
}

/**
 * A result as the model reads it: a text as text, everything else as data. A media part, or a list of texts, data and
 * media parts with at least one of the last, is read as what it is: this is how a tool shows an image or hands over a file.
 */
export function resultParts(value: JsonValue): readonly Part[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (isMediaPart(value)) return [value];
  if (Array.isArray(value) && value.every(isResultPart) && value.some(isMediaPart)) return value;
  return [{ type: 'data', data: value }];
}

function isResultPart(value: JsonValue): value is TextPart | DataPart | MediaPart {
  if (!isJsonObject(value)) return false;
  const { type, text, data } = value;
  if (type === 'text') return typeof text === 'string';
  return type === 'data' ? data !== undefined : isMediaPart(value);
}

/** A result that came from elsewhere, held against what a tool declares: as if the tool itself had given it. */
export function checkedResult(
  definition: ToolDefinition,
  value: unknown,
):
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problems: readonly string[] } {
  const outcome = outcomeOf(definition, value);
  if (outcome.kind === 'ok') return { ok: true, value: outcome.value };
  return { ok: false, problems: [outcome.kind === 'error' ? outcome.error.message : outcome.kind] };
}

/** Runs one function of a tool, under the rules of `invokeTool`. */
function normaliseOutcome(tool: Tool, run: () => unknown): ToolOutcome | Promise<ToolOutcome> {
  try {
    const returned = run();
    if (!isThenable(returned)) return outcomeOf(tool.definition, returned);
    return Promise.resolve(returned).then(
      (value) => outcomeOf(tool.definition, value),
      (reason: unknown) => failure(tool.name, reason),
    );
  } catch (reason) {
    return failure(tool.name, reason);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}

function outcomeOf(definition: ToolDefinition, returned: unknown): ToolOutcome {
  if (isSuspended(returned)) return { kind: 'suspended', wait: returned.wait };
  const json = toJson(returned);
  if (!json.ok) return { kind: 'error', error: toolOutputInvalid(definition.name, [json.problem]) };
  if (definition.checkOutput === undefined) return { kind: 'ok', value: json.value };
  try {
    const checked = definition.checkOutput(json.value);
    if (!checked.ok)
      return { kind: 'error', error: toolOutputInvalid(definition.name, checked.problems) };
    // A check may complete what it was given; a schema library may even make something of it that is not JSON.
    const completed = checked.value === json.value ? json : toJson(checked.value);
    if (completed.ok) return { kind: 'ok', value: completed.value };
    return { kind: 'error', error: toolOutputInvalid(definition.name, [completed.problem]) };
  } catch (reason) {
    return failure(definition.name, reason);
  }
}

function failure(name: string, reason: unknown): ToolOutcome {
  if (AgentError.is(reason)) return { kind: 'error', error: reason };
  return { kind: 'error', error: toolFailed(name, messageOf(reason), reason) };
}

/** Anything can be thrown; a full stop at its end would be doubled. */
function messageOf(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  return (
    (reason instanceof Error && reason.message.replace(/\.$/, '')) ||
    'it threw something that says nothing'
  );
}
