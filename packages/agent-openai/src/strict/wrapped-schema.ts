import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** The member that holds a value whose own schema is no object. */
const WRAPPED = 'value';

/** Whether a schema can stand at the root: a plain object, no union. */
export function isObjectRoot(schema: JsonObject): boolean {
  const { type, anyOf, oneOf } = schema;
  return type === 'object' && anyOf === undefined && oneOf === undefined;
}

/** An object schema with the given one as its only member. Definitions stay at the root, where references look for them. */
export function wrapped(schema: JsonObject): JsonObject {
  const { $defs, definitions, ...inner } = schema;
  return {
    type: 'object',
    properties: { [WRAPPED]: inner },
    required: [WRAPPED],
    additionalProperties: false,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** The value of that member; anything else comes back as it is. */
export function unwrapped(value: JsonValue): JsonValue {
  return isJsonObject(value) && Object.hasOwn(value, WRAPPED) ? (value[WRAPPED] ?? null) : value;
}
