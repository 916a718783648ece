import { isJsonObject, type Problem } from '@hexagent/agent-core';

/** Collects what is wrong with a value. */
export type Problems = Problem[];

/** More than a reader mends at once: a body of nothing but mistakes is not answered by forty times its size. */
const MOST_PROBLEMS = 50;

export function isFull(problems: Problems): boolean {
  return problems.length >= MOST_PROBLEMS;
}

/** The problems that are told: where there may be more, that is said last. */
export function toldProblems(problems: Problems): readonly Problem[] {
  if (!isFull(problems)) return problems;
  const more = {
    at: 'input',
    seen: 'may have more problems, which were not looked for.',
    mend: 'Send it again when these are mended.',
  };
  return [...problems.slice(0, MOST_PROBLEMS), more];
}

/** Looks at each item of a list, until enough is wrong. */
export function checkEach(
  problems: Problems,
  list: readonly unknown[],
  check: (item: unknown, index: number) => void,
): void {
  for (const [index, item] of list.entries()) {
    if (isFull(problems)) return;
    check(item, index);
  }
}

/** What a field must be, beside being there. */
type Kind = 'a text' | 'an object' | 'a list';

const FITS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  'a text': (value) => typeof value === 'string',
  'an object': isJsonObject,
  'a list': Array.isArray,
};

/** A field of another kind is a problem; one that is missing is, unless it is optional. `null` is how some clients say "absent". */
export function checkField(
  problems: Problems,
  value: unknown,
  {
    at,
    kind,
    optional = false,
  }: { readonly at: string; readonly kind: Kind; readonly optional?: boolean },
): void {
  if (optional && isAbsent(value)) return;
  if (FITS[kind](value)) return;
  const seen = value === undefined ? 'is missing.' : `is ${kindOf(value)}.`;
  problems.push({ at, seen, mend: `Send ${kind}${optional ? ', or leave it out' : ''}.` });
}

/** An id or another short text that is kept. */
export function checkId(problems: Problems, value: unknown, at: string): void {
  if (typeof value === 'string' && value.length > 0 && value.length <= MAX_ID) return;
  const seen =
    typeof value === 'string' ? `has ${value.length} characters.` : `is ${kindOf(value)}.`;
  problems.push({ at, seen, mend: `Send a text of 1 to ${MAX_ID} characters.` });
}

const MAX_ID = 256;

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** As deep as core takes JSON. What nests deeper cannot be copied or written: such code calls itself for each level. */
const MAX_NESTING = 200;

/** One problem when the value nests too deeply; nothing else of it may then be looked at. */
export function checkNesting(problems: Problems, value: unknown, at: string): void {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_NESTING; depth += 1) {
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
    if (level.length === 0) return;
  }
  problems.push({
    at,
    seen: `nests deeper than ${MAX_NESTING} levels.`,
    mend: 'Send it flatter.',
  });
}

/** A value by its kind: what a client sent is not repeated in an error. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** One problem when the value is none of the words. */
export function checkWord(
  problems: Problems,
  value: unknown,
  { at, words }: { readonly at: string; readonly words: readonly string[] },
): void {
  if (words.some((word) => word === value)) return;
  problems.push({
    at,
    seen: `is ${kindOf(value)} that is none of the known ones.`,
    mend: `Use one of: ${words.join(', ')}.`,
  });
}
