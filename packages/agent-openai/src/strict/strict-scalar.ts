import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';
import { NotStrict } from './strict-reference.ts';

const TYPES: readonly string[] = [
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'array',
  'object',
];

/** The types of a schema: said, or those of its values. Strict mode wants one at every place. */
export function typesOf(schema: JsonObject): readonly string[] {
  const { type, const: only, enum: values } = schema;
  const said =
    type === undefined ? typesOfValues(only === undefined ? values : [only]) : [type].flat();
  const types = [...new Set(said)].filter((one): one is string => TYPES.includes(String(one)));
  if (types.length === 0 || types.length !== new Set(said).size) throw new NotStrict();
  return types;
}

function typesOfValues(values: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(values)) throw new NotStrict();
  return values.map((value: JsonValue) => {
    if (value === null) return 'null';
    if (Array.isArray(value) || isJsonObject(value)) throw new NotStrict();
    return typeof value;
  });
}

/** Whether a value fits a schema without members and items; the format is not looked at. */
export function scalarCheck(schema: JsonObject): (value: JsonValue) => boolean {
  const { type, const: only, enum: values } = schema;
  const types = [type].flat();
  const pattern = typeof schema['pattern'] === 'string' ? regexOf(schema['pattern']) : undefined;
  return (value) => {
    if (!types.some((one) => isOfType(value, one))) return false;
    if (only !== undefined && value !== only) return false;
    if (Array.isArray(values) && !values.includes(value)) return false;
    if (typeof value === 'string') return pattern === undefined || pattern.test(value);
    return typeof value !== 'number' || isInRange(value, schema);
  };
}

function isOfType(value: JsonValue, type: JsonValue | undefined): boolean {
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function isInRange(value: number, schema: JsonObject): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return (
    !(typeof minimum === 'number' && value < minimum) &&
    !(typeof maximum === 'number' && value > maximum) &&
    !(typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) &&
    !(typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) &&
    !(typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
  );
}

/** Tolerates what floating point makes of 0.3 / 0.1. */
function isMultiple(value: number, of: number): boolean {
  const ratio = value / of;
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio));
}

function regexOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}
