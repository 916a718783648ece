import type { JsonObject, JsonValue } from '@hexagent/agent-core/adapter';
import { NotStrict } from './strict-reference.ts';

/** The keywords of one schema: what strict mode takes, and the rest in words. */
export type Words = {
  /** `title` and `description`, the words included. */
  readonly annotations: JsonObject;
  /** Constraints of scalars and lists that strict mode enforces. */
  readonly kept: JsonObject;
  /** Keywords that were only told. */
  readonly loosened: readonly string[];
  /** True when there is a constraint, kept or told: it cannot stand beside a union or a reference. */
  readonly hasConstraints: boolean;
};

/** Enforced in strict mode, if its value is one that strict mode reads. */
const KEPT: readonly string[] = [
  'enum',
  'const',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
];
const FORMATS: readonly string[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
];
/** Look-around, back references and Unicode classes: not in every engine of regular expressions. */
const BEYOND_REGULAR = /\(\?(?!:)|\\[1-9kpPbB]/;

/** What structures a schema; read elsewhere. */
const STRUCTURE: readonly string[] = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'oneOf',
  '$ref',
  '$defs',
  'definitions',
];
/** Says nothing that the model needs. */
const SILENT: readonly string[] = [
  '$schema',
  '$id',
  'id',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
  'title',
  'description',
  '$anchor',
];
/** Hints, not constraints: a value that ignores them is none the worse. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['default', 'Default'],
  ['examples', 'Examples'],
]);
/** Changes what the schema means so much that words would not do. */
const UNTELLABLE: readonly string[] = [
  'patternProperties',
  'prefixItems',
  'additionalItems',
  'unevaluatedProperties',
  '$dynamicRef',
  '$recursiveRef',
];

/** Sorts the keywords of one schema. Throws `NotStrict` for those that cannot be left to words. */
export function inWords(schema: JsonObject): Words {
  const kept: Record<string, JsonValue> = {};
  const told: string[] = [];
  const loosened: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || STRUCTURE.includes(keyword) || SILENT.includes(keyword)) continue;
    if (UNTELLABLE.includes(keyword)) throw new NotStrict();
    const hint = HINTS.get(keyword);
    if (hint !== undefined) told.push(`${hint}: ${JSON.stringify(value)}.`);
    else if (KEPT.includes(keyword) && isTaken(keyword, value)) kept[keyword] = value;
    else {
      loosened.push(keyword);
      told.push(`${keyword}: ${JSON.stringify(value)}.`);
    }
  }
  return {
    annotations: annotationsOf(schema, told),
    kept,
    loosened,
    hasConstraints: loosened.length > 0 || Object.keys(kept).length > 0,
  };
}

function isTaken(keyword: string, value: JsonValue): boolean {
  if (keyword === 'format') return FORMATS.includes(String(value));
  if (keyword === 'pattern') return !BEYOND_REGULAR.test(String(value));
  return true;
}

function annotationsOf(schema: JsonObject, told: readonly string[]): JsonObject {
  const { title, description } = schema;
  const said = typeof description === 'string' && description !== '' ? [description] : [];
  const words = [...said, ...told].join(' ');
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(words === '' ? {} : { description: words }),
  };
}
