import { isJsonObject, type JsonObject, type JsonValue, putMember } from '../base/json.ts';
import type { Check } from '../base/schema.ts';
import type { BindInput } from './tool.ts';

export type BindOptions = {
  readonly check: Check;
  /** See `ToolSpec.positional`. */
  readonly positional?: readonly string[] | undefined;
  /** The check may answer something that is not JSON: what was sent is what is kept. */
  readonly transforms: boolean;
};

/**
 * How a tool takes what a model sends: the flat object, and for a tool with `positional` names also `{ args, kwargs }`. The input
 * is validated and completed by defaults; on a problem nothing may run.
 */
export function bindInputOf({ check, positional, transforms }: BindOptions): BindInput {
  const validated: BindInput = (payload) => {
    const checked = check(payload);
    if (!checked.ok) return checked;
    return { ok: true, input: transforms ? payload : (checked.value as JsonObject) };
  };
  if (positional === undefined) return validated;
  return (payload) => {
    const flat = flattened(payload, positional);
    return flat.ok ? validated(flat.input) : flat;
  };
}

/** `{ args, kwargs }` becomes the flat object; a payload with neither is flat already. */
function flattened(payload: JsonObject, positional: readonly string[]): ReturnType<BindInput> {
  if (!Object.hasOwn(payload, 'args') && !Object.hasOwn(payload, 'kwargs'))
    return { ok: true, input: payload };
  const { args = [], kwargs = {}, ...others } = payload;
  const problems: string[] = [];
  const stray = Object.keys(others);
  if (stray.length > 0)
    problems.push(`beside args and kwargs nothing else may stand; found: ${stray.join(', ')}`);
  if (!Array.isArray(args)) problems.push('args must be a list');
  if (!isJsonObject(kwargs)) problems.push('kwargs must be an object');
  if (!Array.isArray(args) || !isJsonObject(kwargs)) return { ok: false, problems };
  if (args.length > positional.length) {
    problems.push(
      `args has ${args.length} values, but only ${positional.length} can be given by position: ${positional.join(', ')}`,
    );
  }
  const input: Record<string, JsonValue> = {};
  positional.slice(0, args.length).forEach((name, index) => {
    putMember(input, name, args[index]);
    if (Object.hasOwn(kwargs, name)) problems.push(`${name} is given twice: in args and in kwargs`);
  });
  for (const [name, value] of Object.entries(kwargs)) putMember(input, name, value);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, input };
}
