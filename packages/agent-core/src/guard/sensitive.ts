import { definitionInvalid, type Problem } from '../base/error-catalog.ts';
import { isStandardSchema } from '../base/schema-source.ts';
import type { JsonSchemaLike, Schema } from '../base/schema-types.ts';
import {
  type FieldMark,
  MASKINGS,
  type Masking,
  PII_CATEGORIES,
  type PiiCategory,
  REDACTIONS,
  type Redaction,
  SENSITIVITIES,
  type SecretMark,
  type SensitiveMark,
  type Sensitivity,
} from './mark.ts';

export type SensitiveOptions = {
  readonly category: PiiCategory | Sensitivity;
  /** Default `redact`. */
  readonly masking?: Masking;
  /** Default `redact`. */
  readonly redaction?: Redaction;
  readonly label?: string;
};

export type SecretOptions = {
  /** Default `reference-only`. */
  readonly redaction?: Redaction;
  readonly label?: string;
};

/** Where a schema carries its own mark; global, so that two copies of core still agree. */
export const OWN_MARK: unique symbol = Symbol.for('@hexagent/agent-core/mark');

/** Where a schema carries marks of the fields in it, by path. */
export const FIELD_MARKS: unique symbol = Symbol.for('@hexagent/agent-core/field-marks');

/**
 * Marks a schema: values of it are masked in every sink (events, evidence, prompts, logs), and stay exact for the model
 * and the tool. The marker rides on the schema object beside its JSON members: it goes through TypeBox composition
 * and never reaches the model-facing schema.
 *
 * @throws DEFINITION_INVALID for a category, masking or redaction that there is not, and for a Standard Schema, whose
 * composition would lose the marker: mark those from outside with `markFields`.
 */
export function sensitive<S extends JsonSchemaLike>(schema: S, options: SensitiveOptions): S {
  return withOwnMark(schema, sensitiveField(options));
}

/** Marks a schema whose values are never shown, whatever the policy. */
export function secret<S extends JsonSchemaLike>(schema: S, options: SecretOptions = {}): S {
  return withOwnMark(schema, secretField(options));
}

/** A mark for `markFields`. A personal category has the sensitivity `pii`; another one is its own sensitivity. */
export function sensitiveField(options: SensitiveOptions): SensitiveMark {
  const { category, masking = 'redact', redaction = 'redact', label } = options;
  checkField('sensitive', [
    ...notAmong('category', category, [...PII_CATEGORIES, ...SENSITIVITIES]),
    ...notAmong('masking', masking, MASKINGS),
    ...fieldProblems(redaction, label),
  ]);
  const sensitivity = SENSITIVITIES.find((known) => known === category) ?? 'pii';
  return Object.freeze({
    kind: 'sensitive',
    category,
    sensitivity,
    masking,
    redaction,
    ...labelled(label),
  });
}

/** A mark for `markFields`: never shown. */
export function secretField(options: SecretOptions = {}): SecretMark {
  const { redaction = 'reference-only', label } = options;
  checkField('secret', fieldProblems(redaction, label));
  return Object.freeze({ kind: 'secret', sensitivity: 'secret', redaction, ...labelled(label) });
}

/**
 * Marks fields of any schema by path, for those that cannot carry a marker inside (Zod and the like, schemas from elsewhere):
 * `markFields(customer, { 'contact.email': sensitiveField({ category: 'email' }), 'cards.*': secretField() })`.
 * `*` is every item of a list or member of a map; the empty path is the value itself. A path that the schema does not
 * have is a definition problem of the tool.
 */
export function markFields<S extends Schema>(
  schema: S,
  fields: Readonly<Record<string, FieldMark>>,
): S {
  const marks = Object.entries(fields).map(([path, field]) => ({
    path: path === '' ? [] : path.split('.'),
    field,
  }));
  return derived(schema, FIELD_MARKS, marks);
}

const labelled = (label: string | undefined): { readonly label?: string } =>
  label === undefined ? {} : { label };

function notAmong(at: string, value: unknown, known: readonly unknown[]): Problem[] {
  return known.includes(value)
    ? []
    : [{ at, seen: `is ${JSON.stringify(value)}.`, mend: `Use one of: ${known.join(', ')}.` }];
}

function fieldProblems(redaction: Redaction, label: string | undefined): Problem[] {
  const problems = notAmong('redaction', redaction, REDACTIONS);
  if (label?.trim() === '')
    problems.push({ at: 'label', seen: 'is blank.', mend: 'Give it a name, or leave it out.' });
  return problems;
}

function checkField(subject: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw definitionInvalid(subject, problems);
}

function withOwnMark<S extends JsonSchemaLike>(schema: S, mark: FieldMark): S {
  if (!isStandardSchema(schema)) return derived(schema, OWN_MARK, mark);
  throw definitionInvalid(mark.kind, [
    {
      at: 'schema',
      seen: `is a Standard Schema of "${schema['~standard'].vendor}", whose composition loses the marker.`,
      mend: `Mark it from outside: markFields(schema, { 'path.to.field': ${mark.kind}Field(…) }).`,
    },
  ]);
}

/** The same schema with one symbol more. TypeBox keeps its notes in hidden own members, other libraries in their prototypes. */
function derived<S extends object>(schema: S, key: symbol, value: unknown): S {
  const note = { [key]: { value, enumerable: true, configurable: true, writable: true } };
  return isStandardSchema(schema)
    ? Object.create(schema, note)
    : Object.create(Object.getPrototypeOf(schema), {
        ...Object.getOwnPropertyDescriptors(schema),
        ...note,
      });
}
