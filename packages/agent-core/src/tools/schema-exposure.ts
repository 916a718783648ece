import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { CONTEXT_EXPOSURE, type ContextExposurePolicy } from '../guard/exposure.ts';
import type { FieldMark, Mark } from '../guard/mark.ts';
import type { Tool } from './tool.ts';

/** The keyword under which a copy of a schema says which of its fields are marked. */
export const SENSITIVE_KEYWORD = 'x-hexagent-sensitive';

/**
 * A tool's input schema. Under a policy with `includeSensitiveSchemaMetadata` it is a copy that names the marked fields; else,
 * and for a tool without marks, it is the model-facing schema itself.
 */
export function inputSchemaFor(
  tool: Tool,
  policy: ContextExposurePolicy = CONTEXT_EXPOSURE,
): JsonObject {
  return exposed(tool.definition.inputSchema, tool.definition.inputMarks, policy);
}

/** A tool's output schema, like `inputSchemaFor`; undefined when the tool declares none. */
export function outputSchemaFor(
  tool: Tool,
  policy: ContextExposurePolicy = CONTEXT_EXPOSURE,
): JsonObject | undefined {
  const { outputSchema, outputMarks } = tool.definition;
  return outputSchema && exposed(outputSchema, outputMarks, policy);
}

/**
 * A copy of a schema with one more entry under `x-hexagent-sensitive` at each marked place. Entries that are there are
 * kept; a path that the schema does not have is left out; the very same schema is answered when nothing is added.
 */
export function withSensitiveKeyword(schema: JsonObject, marks: readonly Mark[]): JsonObject {
  return marks.reduce((copy, { path, field }) => annotated(copy, path, field), schema);
}

function exposed(
  schema: JsonObject,
  marks: readonly Mark[],
  policy: ContextExposurePolicy,
): JsonObject {
  return policy.includeSensitiveSchemaMetadata ? withSensitiveKeyword(schema, marks) : schema;
}

function annotated(schema: JsonObject, path: readonly string[], field: FieldMark): JsonObject {
  const [segment, ...rest] = path;
  if (segment === undefined) {
    const present = schema[SENSITIVE_KEYWORD];
    return {
      ...schema,
      [SENSITIVE_KEYWORD]: [...(Array.isArray(present) ? present : []), { ...field }],
    };
  }
  let copy = schema;
  const replace = (keyword: string, after: JsonValue): void => {
    if (after !== schema[keyword]) copy = { ...copy, [keyword]: after };
  };
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case 'properties':
        replace(
          keyword,
          inMember(value, segment, (one) => annotated(one, rest, field)),
        );
        break;
      case 'patternProperties':
        if (segment === '*')
          replace(
            keyword,
            inEach(value, (one) => annotated(one, rest, field)),
          );
        break;
      case 'additionalProperties':
        if (segment === '*' && isJsonObject(value)) replace(keyword, annotated(value, rest, field));
        break;
      case 'items':
      case 'prefixItems':
        if (Array.isArray(value))
          replace(
            keyword,
            inMember(value, segment, (one) => annotated(one, rest, field)),
          );
        else if (segment === '*' && isJsonObject(value))
          replace(keyword, annotated(value, rest, field));
        break;
      case 'anyOf':
        replace(
          keyword,
          inEach(value, (one) => annotated(one, path, field)),
        );
        break;
    }
  }
  return copy;
}

type Change = (schema: JsonObject) => JsonObject;

/** The list or object of schemas with one of them changed. */
function inMember(schemas: JsonValue, key: string, change: Change): JsonValue {
  if (typeof schemas !== 'object' || schemas === null || !Object.hasOwn(schemas, key))
    return schemas;
  return inSome(schemas, (each) => each === key, change);
}

function inEach(schemas: JsonValue, change: Change): JsonValue {
  return inSome(schemas, () => true, change);
}

function inSome(schemas: JsonValue, chosen: (key: string) => boolean, change: Change): JsonValue {
  if (typeof schemas !== 'object' || schemas === null) return schemas;
  const entries = Object.entries(schemas as JsonObject).map(([key, one]) => {
    const after = chosen(key) && isJsonObject(one) ? change(one) : one;
    return { key, after, changed: after !== one };
  });
  if (!entries.some(({ changed }) => changed)) return schemas;
  if (Array.isArray(schemas)) return entries.map(({ after }) => after);
  return Object.fromEntries(entries.map(({ key, after }) => [key, after]));
}
