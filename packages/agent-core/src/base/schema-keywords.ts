import type { Problem } from './error-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { FORMATS } from './schema-format.ts';

/** The types that a schema may name. */
export const SCHEMA_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'array',
  'object',
] as const;

/** Which types each constraint says something about. */
const CONSTRAINTS: Readonly<Record<string, readonly string[]>> = {
  properties: ['object'],
  required: ['object'],
  additionalProperties: ['object'],
  patternProperties: ['object'],
  items: ['array'],
  prefixItems: ['array'],
  additionalItems: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
  format: ['string'],
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
  exclusiveMinimum: ['number', 'integer'],
  exclusiveMaximum: ['number', 'integer'],
  multipleOf: ['number', 'integer'],
};

const ANNOTATIONS: readonly string[] = [
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$id',
  '$schema',
  '$comment',
];

const MENDS: Readonly<Record<string, string>> = {
  oneOf: 'Use anyOf.',
  allOf: 'Merge the members into one object schema.',
  not: 'Say what is allowed instead.',
  $ref: 'Write the referenced schema in its place.',
  $defs: 'Write each schema where it is used.',
  definitions: 'Write each schema where it is used.',
  nullable: 'Use type: ["string", "null"], or anyOf with { type: "null" }.',
};

/**
 * The keywords of one schema object that can be used as they stand; what is wrong with the others goes into `problems`.
 * What lies below is not looked at.
 */
export function soundKeywords(schema: JsonObject, at: string, problems: Problem[]): JsonObject {
  const sound: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    const wrong = wrongKeyword(keyword, value) ?? inapplicable(keyword, schema.type);
    if (wrong === undefined) sound[keyword] = value;
    else problems.push({ at: `${at}.${keyword}`, ...wrong });
  }
  return sound;
}

type Wrong = Omit<Problem, 'at'> | undefined;

function wrongKeyword(keyword: string, value: JsonValue): Wrong {
  if (ANNOTATIONS.includes(keyword)) return undefined;
  if (!Object.hasOwn(SHAPES, keyword)) {
    return {
      seen: `the keyword "${keyword}" is outside the supported JSON Schema subset.`,
      mend: Object.hasOwn(MENDS, keyword)
        ? String(MENDS[keyword])
        : `Leave it out, or use: ${Object.keys(SHAPES).join(', ')}.`,
    };
  }
  const mend = SHAPES[keyword]?.(value);
  return mend === undefined ? undefined : { seen: `is ${JSON.stringify(value)}.`, mend };
}

function inapplicable(keyword: string, type: JsonValue | undefined): Wrong {
  const applies = Object.hasOwn(CONSTRAINTS, keyword) ? CONSTRAINTS[keyword] : undefined;
  if (applies === undefined || type === undefined) return undefined;
  if ([type].flat().some((one) => applies.includes(String(one)))) return undefined;
  return {
    seen: `says nothing about the type ${JSON.stringify(type)}.`,
    mend: `Leave it out, or make the type ${applies.join(' or ')}.`,
  };
}

type Shape = (value: unknown) => string | undefined;

const isPrimitive = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
const must =
  (holds: (value: unknown) => boolean, mend: string): Shape =>
  (value) =>
    holds(value) ? undefined : mend;

const size = must(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  'Give a whole number of 0 or more.',
);
const bound = must((value) => Number.isFinite(value), 'Give a number.');
const schemas = must((value) => isJsonObject(value), 'Give an object of schemas by name.');

/** What the value of a keyword must look like; a broken one says how to mend it. */
const SHAPES: Readonly<Record<string, Shape>> = {
  type: must(
    (value) => {
      const types: readonly unknown[] = [value].flat();
      return (
        types.length > 0 && types.every((type) => SCHEMA_TYPES.some((known) => known === type))
      );
    },
    `Give one or more of: ${SCHEMA_TYPES.join(', ')}.`,
  ),
  enum: must(
    (value) => Array.isArray(value) && value.length > 0 && value.every(isPrimitive),
    'Give a list of strings, numbers, booleans or null.',
  ),
  const: must(isPrimitive, 'Give a string, a number, a boolean or null.'),
  anyOf: must(
    (value) => Array.isArray(value) && value.length > 0,
    'Give a list of one or more schemas.',
  ),
  properties: schemas,
  patternProperties: (value) =>
    schemas(value) ??
    Object.keys(value as object)
      .map(regularExpression)
      .find((wrong) => wrong !== undefined),
  required: must(
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    'Give a list of property names.',
  ),
  additionalProperties: must(
    (value) => typeof value === 'boolean' || isJsonObject(value),
    'Give true, false or a schema.',
  ),
  items: must(
    (value) => value === false || isJsonObject(value) || Array.isArray(value),
    'Give a schema, or a list of schemas for a tuple.',
  ),
  prefixItems: must(Array.isArray, 'Give a list of schemas, one an item.'),
  additionalItems: must(
    (value) => value === false,
    'Only false is supported: a tuple ends with its last item.',
  ),
  minItems: size,
  maxItems: size,
  minLength: size,
  maxLength: size,
  pattern: regularExpression,
  format: must(
    (value) => typeof value === 'string' && Object.hasOwn(FORMATS, value),
    `Give one that is checked: ${Object.keys(FORMATS).join(', ')}; or a pattern.`,
  ),
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: must(
    (value) => Number.isFinite(value) && Number(value) > 0,
    'Give a number above 0.',
  ),
};

/** A pattern as JSON Schema reads it: Unicode if it can be, not anchored. */
export function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

function regularExpression(value: unknown): string | undefined {
  try {
    patternOf(value as string);
    return typeof value === 'string' ? undefined : 'Give a regular expression as text.';
  } catch {
    return 'Give a regular expression that compiles.';
  }
}
