import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonSchemaLike,
  type JsonValue,
} from '@hexagent/agent-core';

/** Schemas with a title become components of the document, each once; the same title for another shape stays where it is. */
export interface Components {
  /** The schema as the document has it. */
  reference(schema: JsonSchemaLike): JsonObject;
  readonly schemas: JsonObject;
}

export function createComponents(): Components {
  const schemas: Record<string, JsonValue> = {};
  const lifted = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(lifted);
    if (!isJsonObject(value)) return value;
    const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, lifted(one)]));
    const { title } = value;
    if (typeof title !== 'string' || !/^[A-Za-z][\w.-]*$/.test(title)) return inner;
    const held = schemas[title];
    if (held === undefined) schemas[title] = inner;
    else if (canonicalJson(held) !== canonicalJson(inner)) return inner;
    return { $ref: `#/components/schemas/${title}` };
  };
  return {
    schemas,
    reference: (schema) => {
      // A schema is JSON beside the marks of its library, which do not survive this.
      const plain: JsonValue = JSON.parse(JSON.stringify(schema));
      const result = lifted(plain);
      return isJsonObject(result) ? result : {};
    },
  };
}
