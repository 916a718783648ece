import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

const FORMATS: readonly JsonValue[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
];

/** They say nothing about a value: neither the grammar nor the model has a use for them. */
const IDLE = /^(\$schema|\$id|\$anchor|\$comment|deprecated|x-.*)$/;

type Draft = Record<string, JsonValue>;

/**
 * A schema in the part of JSON Schema that the provider's grammars take: every object closed, `oneOf` as `anyOf`,
 * `definitions` as `$defs`. What has no place there is told to the model in the description instead: core checks every
 * value against the schema as it was given.
 */
export function grammarSchema(schema: JsonObject): JsonObject {
  return node(schema);
}

function node(schema: JsonObject): JsonObject {
  const { $defs, definitions, $ref, title, description, ...rest } = schema;
  const left: Draft = { ...rest };
  const draft: Draft = {};
  const defs = { ...objectOf(definitions), ...objectOf($defs) };
  if (Object.keys(defs).length > 0) draft['$defs'] = members(defs);
  if (typeof $ref === 'string') reference($ref, left, draft);
  else shape(left, draft);
  if (typeof title === 'string' && typeof $ref !== 'string') draft['title'] = title;
  const words = wordsOf(left);
  const told = [...(typeof description === 'string' ? [description] : []), ...words];
  // Beside a reference there is no room for words.
  if (told.length === 0) return draft;
  if (draft['$ref'] === undefined) return { ...draft, description: told.join('\n\n') };
  if (words.length === 0) return draft;
  const { $ref: to, ...beside } = draft;
  return { ...beside, anyOf: [{ $ref: to ?? null }], description: told.join('\n\n') };
}

function reference($ref: string, left: Draft, draft: Draft): void {
  draft['$ref'] = $ref.replace(/^#\/definitions\//, '#/$defs/');
  delete left['type'];
}

/** Moves what the grammar takes from `left` into `draft`. */
function shape(left: Draft, draft: Draft): void {
  const hasLiterals = literals(left, draft);
  const { type } = left;
  const hasMembers = isJsonObject(left['properties']);
  const isCombined = !hasLiterals && !hasMembers && combination(left, draft);
  delete left['type'];
  if (hasLiterals || isCombined) return;
  const isObject = hasMembers || includes(type, 'object');
  if (isObject) object(left, draft);
  if (includes(type, 'array')) array(left, draft);
  const { format } = left;
  if (includes(type, 'string') && format !== undefined && FORMATS.includes(format)) {
    move('format', left, draft);
  }
  if (type !== undefined) draft['type'] = type;
  else if (isObject) draft['type'] = 'object';
}

/** An enumeration of plain values says its types itself. */
function literals(left: Draft, draft: Draft): boolean {
  const { enum: values, const: value } = left;
  if (Array.isArray(values) && values.length > 0 && values.every(isPlain)) {
    move('enum', left, draft);
  }
  if (value !== undefined && isPlain(value)) move('const', left, draft);
  return 'enum' in draft || 'const' in draft;
}

/** One combination has room beside nothing else; a second one is told in words. */
function combination(left: Draft, draft: Draft): boolean {
  const from = ['anyOf', 'oneOf', 'allOf'].find((keyword) => Array.isArray(left[keyword]));
  if (from === undefined) return false;
  const variants = listOf(left[from]);
  delete left[from];
  draft[from === 'allOf' ? 'allOf' : 'anyOf'] = variants.map(member);
  return true;
}

function object(left: Draft, draft: Draft): void {
  draft['properties'] = members(objectOf(left['properties']));
  delete left['properties'];
  move('required', left, draft);
  draft['additionalProperties'] = false;
  // An open object has no words of its own; one whose further members have a schema has.
  if (!isJsonObject(left['additionalProperties'])) delete left['additionalProperties'];
}

function array(left: Draft, draft: Draft): void {
  const { items, minItems } = left;
  if (isJsonObject(items)) {
    draft['items'] = node(items);
    delete left['items'];
  }
  if (minItems === 0 || minItems === 1) move('minItems', left, draft);
}

function wordsOf(left: Draft): readonly string[] {
  const told = Object.entries(left).filter(([keyword]) => !IDLE.test(keyword));
  return told.length === 0 ? [] : [`Also holds: ${JSON.stringify(Object.fromEntries(told))}.`];
}

function move(keyword: string, from: Draft, to: Draft): void {
  const value = from[keyword];
  if (value === undefined) return;
  to[keyword] = value;
  delete from[keyword];
}

function members(schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, member(value)]));
}

function member(value: JsonValue): JsonValue {
  return isJsonObject(value) ? node(value) : value;
}

function includes(type: JsonValue | undefined, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function isPlain(value: JsonValue): boolean {
  return value === null || typeof value !== 'object';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
