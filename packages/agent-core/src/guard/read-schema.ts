import type { Problem } from '../base/error-catalog.ts';
import { deepFreeze, isJsonObject, type JsonObject } from '../base/json.ts';
import { type Check, compileSchema } from '../base/schema.ts';
import {
  closedObjects,
  isStandardSchema,
  jsonSchemaOf,
  standardCheck,
} from '../base/schema-source.ts';
import type { Schema } from '../base/schema-types.ts';
import type { FieldMark, Mark } from './mark.ts';
import { FIELD_MARKS, OWN_MARK } from './sensitive.ts';

/** Everything the framework needs of a schema, or all that is wrong with it. */
export type SchemaReading =
  | {
      readonly ok: true;
      /** For models and manifests: plain, frozen JSON Schema without markers. */
      readonly schema: JsonObject;
      readonly marks: readonly Mark[];
      readonly check: Check;
      /** True when `check` may answer something else than JSON: a Standard Schema turns its input into its own output. */
      readonly transforms: boolean;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads a schema of any accepted kind: a TypeBox type (`typebox` 1.x or `@sinclair/typebox`), a Standard Schema that can
 * write JSON Schema, or a plain JSON Schema.
 *
 * JSON Schema is held to the closed subset of `compileSchema` and checked by the core. A Standard Schema is checked by
 * its own `validate`, so its JSON Schema may use any keyword: it is only shown.
 *
 * @param at how problems name the schema: `defineTool("x").input`
 * @param options `closed`: the root and every object that declares properties take no others, unless they say `additionalProperties`
 */
export function readSchema(
  schema: Schema,
  at: string,
  options: { readonly closed?: boolean } = {},
): SchemaReading {
  const reading = jsonSchemaOf(schema, at);
  if (!reading.ok) return reading;
  const json = deepFreeze(options.closed === true ? closedRoot(reading.schema) : reading.schema);
  const declared = declaredMarks(schema);
  const problems = declared
    .filter(({ path }) => !hasPath(json, path))
    .map(({ path }) => ({
      at,
      seen: `markFields names "${path.join('.')}", which the schema does not have.`,
      mend: 'Correct the path; * stands for every item or member.',
    }));
  const marks = [...carriedMarks(schema, []), ...declared];
  if (isStandardSchema(schema)) {
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, schema: json, marks, check: standardCheck(schema, at), transforms: true };
  }
  const compiled = compileSchema(json, at);
  if (compiled.ok && problems.length === 0)
    return { ok: true, schema: json, marks, check: compiled.check, transforms: false };
  return { ok: false, problems: [...problems, ...(compiled.ok ? [] : compiled.problems)] };
}

/** The root is closed even when it names no properties: an object without any takes none. */
function closedRoot(schema: JsonObject): JsonObject {
  const closed = closedObjects(schema);
  if (closed.type !== 'object' || closed.additionalProperties !== undefined) return closed;
  return { ...closed, additionalProperties: false };
}

function declaredMarks(schema: Schema): readonly Mark[] {
  return FIELD_MARKS in schema ? (schema[FIELD_MARKS] as readonly Mark[]) : [];
}

/** Marks that ride on the schema and on the schemas in it. The schema is known to be free of cycles. */
function carriedMarks(schema: unknown, path: readonly string[]): readonly Mark[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = OWN_MARK in schema ? [{ path, field: schema[OWN_MARK] as FieldMark }] : [];
  const below = subschemas(schema as SubschemaKeywords).flatMap(({ keys, schema: one }) =>
    carriedMarks(one, [...path, ...keys]),
  );
  return [...own, ...below];
}

/** True when a value of the schema can have something at the path. */
function hasPath(schema: unknown, path: readonly string[]): boolean {
  const [segment, ...rest] = path;
  if (segment === undefined) return true;
  if (!isJsonObject(schema)) return false;
  return subschemas(schema).some(({ keys, schema: one }) => {
    if (keys.length === 0) return hasPath(one, path);
    return (
      (keys[0] === segment || (keys[0] === '*' && /^\d+$/.test(segment))) && hasPath(one, rest)
    );
  });
}

type SubschemaKeywords = { readonly [keyword: string]: unknown };
type Subschema = { readonly keys: readonly string[]; readonly schema: unknown };

/** The schemas directly in a schema, and under which key of the value each applies. */
export function subschemas(schema: SubschemaKeywords): readonly Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    switch (keyword) {
      case 'properties':
        return Object.entries(value as object).map(([key, one]) => ({
          keys: [key],
          schema: one as unknown,
        }));
      case 'patternProperties':
        return Object.values(value as object).map((one: unknown) => ({ keys: ['*'], schema: one }));
      case 'additionalProperties':
        return [{ keys: ['*'], schema: value }];
      case 'items':
      case 'prefixItems':
        if (!Array.isArray(value)) return [{ keys: ['*'], schema: value }];
        return value.map((one: unknown, index) => ({ keys: [String(index)], schema: one }));
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        return (value as readonly unknown[]).map((one) => ({ keys: [], schema: one }));
      default:
        return [];
    }
  });
}
