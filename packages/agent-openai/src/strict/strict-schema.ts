import type { JsonObject, JsonValue } from '@hexagent/agent-core/adapter';
import { isTooDeep } from '../nesting.ts';
import { isWithinLimits } from './strict-limits.ts';
import { compiler } from './strict-node.ts';
import { NotStrict } from './strict-reference.ts';
import { isObjectRoot, unwrapped, wrapped } from './wrapped-schema.ts';

/** A schema in the form of strict mode, and the way back for the values that it makes the model write. */
export type StrictSchema = {
  readonly schema: JsonObject;
  /** True when a value has to go the way back; otherwise it fits the original as it is. */
  readonly isChanged: boolean;
  /** Keywords that strict mode does not know: they are told in words and not enforced. */
  readonly loosened: readonly string[];
  /** What the model wrote, as the original schema knows it: no nulls for what was left out. */
  restore(value: JsonValue): JsonValue;
};

/**
 * A schema for strict mode: every object closed, every property required. What was optional may be null instead, and
 * the way back leaves such nulls out; `oneOf` becomes `anyOf`; what strict mode cannot enforce is said in the description.
 * Undefined for what it cannot express at all (open records, tuples, schemas without a type) and for what is beyond
 * its limits: send such a schema as it is, without `strict`.
 *
 * @param options.wrap puts a schema whose root is no plain object into an object of one member, which the way back
 *   takes off again
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function strictSchema(
  original: JsonObject,
  options: { readonly wrap?: boolean } = {},
): StrictSchema | undefined {
  const isRoot = isObjectRoot(original);
  const wraps = options.wrap === true && !isRoot;
  // What is nested deeper than it can be walked is deeper than strict mode allows by far.
  if ((!isRoot && !wraps) || isTooDeep(original)) return undefined;
  try {
    const root = wraps ? wrapped(original) : original;
    const compiled = compiler(root);
    const node = compiled.node(root);
    const schema = { ...node.schema, ...compiled.definitions() };
    if (!isWithinLimits(schema)) return undefined;
    return {
      schema,
      isChanged: wraps || compiled.isChanged(),
      loosened: compiled.loosened(),
      restore: (value) => (wraps ? unwrapped(node.restore(value)) : node.restore(value)),
    };
  } catch (error) {
    if (error instanceof NotStrict) return undefined;
    throw error;
  }
}
