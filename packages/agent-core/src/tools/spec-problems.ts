import type { Problem } from '../base/error-catalog.ts';
import { EVIDENCE_CAPTURES } from '../vocabulary/evidence.ts';
import { DATA_ACCESSES, EXTERNALITIES, IDEMPOTENCIES } from './effects.ts';
import { APPROVAL_REQUIREMENTS } from './tool.ts';

const NAME = /^[A-Za-z0-9._-]{1,128}$/;
/** Timers of the platform wrap around above it. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** What is wrong with the name and description of a tool. */
export function nameProblems(spec: unknown, at: string): readonly Problem[] {
  const { name, description } = fieldsOf(spec);
  const problems: Problem[] = [];
  if (typeof name !== 'string' || !NAME.test(name)) {
    problems.push({
      at: `${at}.name`,
      seen: `is ${written(name)}.`,
      mend: 'Use 1 to 128 letters, digits, ".", "_" or "-".',
    });
  }
  if (typeof description !== 'string' || description.trim() === '') {
    problems.push({
      at: `${at}.description`,
      seen: `is ${written(description)}.`,
      mend: 'Say in a sentence what the tool does and when to use it: the model reads it.',
    });
  }
  return problems;
}

/** Everything that is wrong with a tool's fields beside its schemas. */
export function specProblems(spec: unknown, at: string): readonly Problem[] {
  const fields = fieldsOf(spec);
  const problems = [...nameProblems(spec, at)];
  const unknown = Object.keys(fields).filter((field) => !KNOWN_FIELDS.includes(field));
  for (const field of unknown) {
    problems.push({
      at: `${at}.${field}`,
      seen: 'is not a field of a tool.',
      mend: `Leave it out, or use: ${KNOWN_FIELDS.join(', ')}.`,
    });
  }
  for (const [field, { holds, mend, required }] of Object.entries(RULES)) {
    const value = fields[field];
    if (value === undefined ? required === true : !holds(value)) {
      problems.push({ at: `${at}.${field}`, seen: `is ${written(value)}.`, mend });
    }
  }
  return [...problems, ...effectsProblems(fields.effects, `${at}.effects`)];
}

type Fields = Readonly<Record<string, unknown>>;
type Rule = {
  readonly holds: (value: unknown) => boolean;
  readonly mend: string;
  readonly required?: boolean;
};

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};
const among = (known: readonly unknown[]): Rule => ({
  holds: (value) => known.includes(value),
  mend: `Use one of: ${known.join(', ')}.`,
});
const aFunction: Rule = {
  holds: (value) => typeof value === 'function',
  mend: 'Give a function, or leave it out.',
};
const aBoolean: Rule = {
  holds: (value) => typeof value === 'boolean',
  mend: 'Give true or false.',
};

const isDistinctNames = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every((one) => typeof one === 'string' && one.trim() !== '') &&
  new Set(value).size === value.length;
const names: Rule = {
  holds: isDistinctNames,
  mend: 'Give a list of names that are not blank and differ.',
};

const isWholeUpTo =
  (most: number) =>
  (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) > 0 && Number(value) <= most;

const RULES: Readonly<Record<string, Rule>> = {
  input: {
    holds: () => true,
    required: true,
    mend: 'Give a schema of an object; for a tool without arguments, one without properties.',
  },
  execute: { ...aFunction, required: true, mend: 'Give the function that does the work.' },
  resume: aFunction,
  reconcile: aFunction,
  cleanup: aFunction,
  idempotency: among(IDEMPOTENCIES),
  approval: among(APPROVAL_REQUIREMENTS),
  evidence: among(EVIDENCE_CAPTURES),
  onReject: among(['return', 'fail']),
  onError: among(['return', 'fail']),
  concurrent: aBoolean,
  permissions: names,
  positional: names,
  needs: {
    holds: (value) =>
      typeof value === 'object' && value !== null && Object.values(value).every(isPort),
    mend: 'Give ports by the names under which tool.deps shall have them: { payments: Payments }.',
  },
  timeoutMs: {
    holds: isWholeUpTo(MAX_TIMEOUT_MS),
    mend: `Give whole milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
  },
  maxResultBytes: {
    holds: isWholeUpTo(Number.MAX_SAFE_INTEGER),
    mend: 'Give a whole number of bytes above 0.',
  },
};

const KNOWN_FIELDS: readonly string[] = [
  'name',
  'description',
  'output',
  'effects',
  ...Object.keys(RULES),
];

const EFFECT_RULES: Readonly<Record<string, Rule>> = {
  access: among(DATA_ACCESSES),
  externality: among(EXTERNALITIES),
  destructive: aBoolean,
  network: aBoolean,
};

function isPort(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value && 'arity' in value;
}

function effectsProblems(effects: unknown, at: string): readonly Problem[] {
  if (typeof effects !== 'object' || effects === null) {
    return [
      {
        at,
        seen: `is ${written(effects)}.`,
        mend: 'Say what the tool does to the world: effects.readOnly(), writeState(), externalSideEffect(), destructiveAction(), or the four fields.',
      },
    ];
  }
  const fields = fieldsOf(effects);
  return Object.entries(EFFECT_RULES).flatMap(([field, { holds, mend }]) =>
    holds(fields[field])
      ? []
      : [{ at: `${at}.${field}`, seen: `is ${written(fields[field])}.`, mend }],
  );
}

/** A value as a problem shows it. */
function written(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a ${typeof value}`;
  }
}
