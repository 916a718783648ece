import { inputInvalid, type JsonSchemaLike, type Problem } from '@hexagent/agent-core';
import { Compile, type Validator } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { coerced, withDefaults } from './coercion.ts';

/** What a check of the schemas has found. */
type Finding = {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
};

const NAMES: Readonly<Record<string, string>> = { params: 'path', querystring: 'query' };

/**
 * The check of one part of a request. What comes as text is typed first; what does not fit is `INPUT_INVALID` with every problem
 * at once.
 */
export function requestCheck(
  schema: JsonSchemaLike,
  { part }: { readonly part: string },
): (given: unknown) => { readonly value: unknown } | { readonly error: Error } {
  const check = schemaCheck(schema);
  return (given) => {
    const value = withDefaults(schema, part === 'body' ? given : coerced(schema, given));
    const problems = check(value, NAMES[part] ?? part);
    return problems.length === 0 ? { value } : { error: inputInvalid('This request', problems) };
  };
}

/** The check of any value: its problems, named from `place` on. */
export function schemaCheck(
  schema: JsonSchemaLike,
): (value: unknown, place: string) => readonly Problem[] {
  const validator = Compile(schema);
  return (value, place) =>
    validator.Check(value) ? [] : problemsOf(findingsOf(validator, value), { value, place });
}

/** The most findings of one value: enough for whoever mends it, bounded for whoever sends a million of them. */
const MOST_FINDINGS = 200;

/** The library stops at eight unless its settings, which it has one set of in a process, say otherwise. */
function findingsOf(validator: Validator, value: unknown): readonly Finding[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: MOST_FINDINGS });
  try {
    return validator.Errors(value)[1];
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** What was checked, and how it is called. */
type Checked = { readonly value: unknown; readonly place: string };

function problemsOf(found: readonly Finding[], checked: Checked): readonly Problem[] {
  const findings = meant(found);
  // A field that is not known is told where it stands; the same once more, from its parent, is noise.
  return findings
    .filter(({ keyword }) => keyword !== 'boolean')
    .flatMap((finding) => problemOf(finding, checked));
}

/**
 * Of the branches of a union only the one that was meant: those whose constant does not fit were not. When none or several
 * are left, the union as a whole does not fit.
 */
function meant(found: readonly Finding[]): readonly Finding[] {
  let findings = found;
  for (const union of found.filter(({ keyword }) => keyword === 'anyOf')) {
    const inside = (finding: Finding): string | undefined => {
      const head = `${union.schemaPath}/anyOf/`;
      if (!finding.schemaPath.startsWith(head)) return undefined;
      return finding.schemaPath.slice(head.length).split('/')[0];
    };
    const own = findings.filter((finding) => inside(finding) !== undefined);
    const strangers = new Set(own.filter((finding) => isMismatch(finding, union)).map(inside));
    const close = own.filter((finding) => !strangers.has(inside(finding)));
    const branches = new Set(close.map(inside));
    const others = findings.filter((finding) => finding !== union && !own.includes(finding));
    const constants = branches.size === 0 ? own.filter(({ keyword }) => keyword === 'const') : [];
    findings = [...others, ...(branches.size === 1 ? close : [wordsOf(constants) ?? union])];
  }
  return findings;
}

/** Branches that differ in the constant of one field: which words it may have. */
function wordsOf(constants: readonly Finding[]): Finding | undefined {
  const [first, ...others] = constants;
  if (first === undefined || others.length === 0) return undefined;
  if (others.some(({ instancePath }) => instancePath !== first.instancePath)) return undefined;
  const allowedValues = constants.flatMap(({ params }) =>
    'allowedValue' in params ? [params.allowedValue] : [],
  );
  return { ...first, keyword: 'enum', params: { allowedValues } };
}

/** A branch is another one's when its constant differs, or when the value is not even of its type. */
function isMismatch({ keyword, instancePath }: Finding, union: Finding): boolean {
  if (keyword === 'const') return instancePath.lastIndexOf('/') === union.instancePath.length;
  return keyword === 'type' && instancePath === union.instancePath;
}

function problemOf(
  { keyword, instancePath, params, message }: Finding,
  { value, place }: Checked,
): readonly Problem[] {
  const at = `${place}${instancePath.replaceAll('/', '.')}`;
  if ('requiredProperties' in params && Array.isArray(params.requiredProperties))
    return params.requiredProperties.map((name) => ({
      at: `${at}.${name}`,
      seen: 'is missing.',
      mend: 'Add it.',
    }));
  if ('additionalProperties' in params && Array.isArray(params.additionalProperties))
    return params.additionalProperties.map((name) => ({
      at: `${at}.${name}`,
      seen: 'is not a field.',
      mend: 'Remove it.',
    }));
  if ('allowedValues' in params && Array.isArray(params.allowedValues))
    return [
      {
        at,
        seen: `is ${shortly(valueAt(value, instancePath))}none of the allowed values.`,
        mend: `Use one of ${params.allowedValues.join(', ')}.`,
      },
    ];
  if (/^min(Length|Items)$/.test(keyword) && 'limit' in params && params.limit === 1)
    return [{ at, seen: 'must not be empty.', mend: 'Say something, or leave it out.' }];
  return [{ at, seen: `${message}.`, mend: 'Correct it.' }];
}

/** A word of a closed list is no secret; what is longer than one, or no text, is not repeated. */
function shortly(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/ -]{1,40}$/.test(value) ? `"${value}", ` : '';
}

/** Source: RFC 6901. */
function valueAt(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (inside, name) =>
        typeof inside === 'object' && inside !== null && Object.hasOwn(inside, name)
          ? Reflect.get(inside, name)
          : undefined,
      value,
    );
}
