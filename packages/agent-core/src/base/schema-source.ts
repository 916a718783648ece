import { AgentError } from './error.ts';
import type { Problem } from './error-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue, putMember } from './json.ts';
import type { Check } from './schema.ts';
import type { Schema, StandardJSONSchemaV1, StandardSchemaV1 } from './schema-types.ts';
import { toJson } from './to-json.ts';

/** The JSON Schema that a schema of any accepted kind stands for, or why there is none. */
export type JsonSchemaReading =
  | { readonly ok: true; readonly schema: JsonObject }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** True for a schema that validates itself by Standard Schema v1 (Zod, Valibot, ArkType, ...). */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  const standard: unknown = '~standard' in schema ? schema['~standard'] : undefined;
  return (
    typeof standard === 'object' &&
    standard !== null &&
    'validate' in standard &&
    typeof standard.validate === 'function'
  );
}

/**
 * The JSON Schema of a TypeBox type (both packages), of a Standard Schema that can write one, or of a plain JSON Schema:
 * a copy of its enumerable, string-keyed members, so markers and a library's own notes stay behind.
 * Of a Standard Schema it is the input side: what a model may send.
 *
 * @param at how problems name the schema: `defineTool("x").input`
 */
export function jsonSchemaOf(schema: Schema, at: string): JsonSchemaReading {
  const source = isStandardSchema(schema) ? standardJsonSchema(schema) : schema;
  if (typeof source === 'string')
    return {
      ok: false,
      problems: [
        {
          at,
          seen: source,
          mend: 'Use a library version that implements Standard JSON Schema (`~standard.jsonSchema`), or give a TypeBox type or a JSON Schema.',
        },
      ],
    };
  const json = toJson(source);
  if (!json.ok)
    return {
      ok: false,
      problems: [
        {
          at,
          seen: `${json.problem}.`,
          mend: 'A schema is plain JSON, written out to a bounded depth.',
        },
      ],
    };
  if (isJsonObject(json.value)) return { ok: true, schema: json.value };
  return {
    ok: false,
    problems: [
      {
        at,
        seen: `is ${JSON.stringify(json.value)}, not a schema.`,
        mend: 'Give a TypeBox type, a Standard Schema or a JSON Schema object.',
      },
    ],
  };
}

const TARGETS = ['draft-2020-12', 'draft-07'] as const;

/** The schema, or what is wrong as text. */
function standardJsonSchema(schema: StandardSchemaV1): JsonObject | string {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1['~standard'] &
    Partial<StandardJSONSchemaV1['~standard']>;
  if (typeof jsonSchema?.input !== 'function')
    return `is a Standard Schema of "${vendor}" that cannot write itself as JSON Schema.`;
  let reason = '';
  for (const target of TARGETS) {
    try {
      return jsonSchema.input({ target }) as JsonObject;
    } catch (error) {
      reason ||= error instanceof Error ? error.message : String(error);
    }
  }
  return `is a Standard Schema of "${vendor}" that cannot be written as JSON Schema: ${reason}.`;
}

/**
 * A check by the schema's own `validate`, whose answer may be something that JSON cannot hold (a Date, a class).
 * A tool is called in one go, so a validator that answers with a promise is a mistake of the definition:
 * `DEFINITION_INVALID` is thrown when it does.
 */
export function standardCheck(schema: StandardSchemaV1, at: string): Check {
  return (value) => {
    const result = schema['~standard'].validate(value);
    if (isThenable(result)) {
      // Nobody will look at how it ends.
      result.then(undefined, () => undefined);
      throw new AgentError('DEFINITION_INVALID', {
        message: `${at} validates asynchronously.`,
        mend: 'Use a schema without asynchronous refinements, and check the rest inside the tool.',
      });
    }
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, problems: result.issues.map(issueText) };
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}

type Issue = { readonly message: string; readonly path?: readonly unknown[] };

function issueText({ message, path = [] }: Issue): string {
  const keys = path.map((segment) =>
    String(
      typeof segment === 'object' && segment !== null && 'key' in segment ? segment.key : segment,
    ),
  );
  return `${keys.length === 0 ? 'the value' : keys.join('.')}: ${message}`;
}

/**
 * The schema with its objects closed: one that declares `properties` or `patternProperties` and says nothing of
 * `additionalProperties` gets `additionalProperties: false`. The very same object is answered when nothing changes.
 */
export function closedObjects(schema: JsonObject): JsonObject {
  const closed: Record<string, JsonValue> = {};
  let changed = false;
  for (const [keyword, value] of Object.entries(schema)) {
    const below = CLOSED.get(keyword)?.(value) ?? value;
    putMember(closed, keyword, below);
    if (below !== value) changed = true;
  }
  if (
    ('properties' in closed || 'patternProperties' in closed) &&
    closed.additionalProperties === undefined
  ) {
    return { ...closed, additionalProperties: false };
  }
  return changed ? closed : schema;
}

const closedOne = (value: JsonValue): JsonValue =>
  isJsonObject(value) ? closedObjects(value) : value;

function closedList(value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return closedOne(value);
  const list = value.map(closedOne);
  return list.some((one, index) => one !== value[index]) ? list : value;
}

function closedMembers(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, one]) => [key, closedOne(one)] as const);
  return members.some(([key, one]) => one !== value[key]) ? Object.fromEntries(members) : value;
}

/** Where schemas lie below a keyword; everything else is data. */
const CLOSED: ReadonlyMap<string, (value: JsonValue) => JsonValue> = new Map([
  ['properties', closedMembers],
  ['patternProperties', closedMembers],
  ['additionalProperties', closedOne],
  ['items', closedList],
  ['prefixItems', closedList],
  ['anyOf', closedList],
]);
