import { isJsonObject, type JsonSchemaLike } from '@hexagent/agent-core';

/**
 * Parts of a request that are text on the wire (path, query, headers) as the types that their schema names: a number
 * stays a text when it does not read as one, so that the check can say so.
 */
export function coerced(schema: JsonSchemaLike, given: unknown): unknown {
  const properties = 'properties' in schema ? schema.properties : undefined;
  if (!isRecord(given) || !isRecord(properties)) return given;
  const copy: Record<string, unknown> = { ...given };
  for (const [name, property] of Object.entries(properties)) {
    if (copy[name] === undefined || !isRecord(property)) continue;
    copy[name] = typed(copy[name], property);
  }
  return copy;
}

/** The same with what a schema says for fields that were left out, also inside of objects that are there. */
export function withDefaults(schema: JsonSchemaLike, given: unknown): unknown {
  const properties = 'properties' in schema ? schema.properties : undefined;
  if (!isRecord(given) || !isRecord(properties)) return given;
  const copy: Record<string, unknown> = { ...given };
  for (const [name, property] of Object.entries(properties)) {
    if (!isRecord(property)) continue;
    if (copy[name] !== undefined) copy[name] = withDefaults(property, copy[name]);
    else if ('default' in property) copy[name] = structuredClone(property['default']);
  }
  return copy;
}

function typed(value: unknown, { type, items }: Readonly<Record<string, unknown>>): unknown {
  if (type === 'array') {
    const values = Array.isArray(value) ? value : [value];
    return isRecord(items) ? values.map((one) => typed(one, items)) : values;
  }
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (type !== 'number' && type !== 'integer') return value;
  const isNumber = /^-?\d{1,16}(\.\d{1,16})?$/.test(value);
  return isNumber ? Number(value) : value;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isJsonObject(value) || (typeof value === 'object' && value !== null && !Array.isArray(value));
