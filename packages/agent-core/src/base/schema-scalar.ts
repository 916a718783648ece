import type { JsonObject } from './json.ts';
import { FORMATS } from './schema-format.ts';
import { patternOf } from './schema-keywords.ts';
import type { Visit } from './schema-visit.ts';

/** Length (in code points), pattern and format of a string; undefined when the schema says nothing of them. */
export function stringRule(schema: JsonObject): Visit | undefined {
  const { minLength, maxLength, pattern, format } = schema as StringKeywords;
  if ((minLength ?? maxLength ?? pattern ?? format) === undefined) return undefined;
  const least = minLength ?? 0;
  const most = maxLength ?? Number.POSITIVE_INFINITY;
  const expression = pattern === undefined ? undefined : patternOf(pattern);
  const fits = format === undefined ? undefined : FORMATS[format];
  return (value, found) => {
    if (typeof value !== 'string') return value;
    if (least > 0 && (value.length < least || codePoints(value) < least)) {
      found.push({ path: [], text: `must have at least ${least} characters` });
    }
    if (value.length > most && codePoints(value) > most) {
      found.push({ path: [], text: `must have at most ${most} characters` });
    }
    if (expression?.test(value) === false) found.push({ path: [], text: `must match ${pattern}` });
    if (fits?.(value) === false) found.push({ path: [], text: `must be a ${format}` });
    return value;
  };
}

/** Bounds and steps of a number; undefined when the schema says nothing of them. */
export function numberRule(schema: JsonObject): Visit | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } =
    schema as NumberKeywords;
  const tests: { readonly fits: (value: number) => boolean; readonly text: string }[] = [];
  if (minimum !== undefined)
    tests.push({ fits: (value) => value >= minimum, text: `must be at least ${minimum}` });
  if (maximum !== undefined)
    tests.push({ fits: (value) => value <= maximum, text: `must be at most ${maximum}` });
  if (exclusiveMinimum !== undefined)
    tests.push({
      fits: (value) => value > exclusiveMinimum,
      text: `must be more than ${exclusiveMinimum}`,
    });
  if (exclusiveMaximum !== undefined)
    tests.push({
      fits: (value) => value < exclusiveMaximum,
      text: `must be less than ${exclusiveMaximum}`,
    });
  if (multipleOf !== undefined)
    tests.push({
      fits: (value) => isMultiple(value, multipleOf),
      text: `must be a multiple of ${multipleOf}`,
    });
  if (tests.length === 0) return undefined;
  return (value, found) => {
    if (typeof value !== 'number') return value;
    for (const { fits, text } of tests) if (!fits(value)) found.push({ path: [], text });
    return value;
  };
}

type StringKeywords = {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
};
type NumberKeywords = {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
};

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** 0.3 is a multiple of 0.1, although its quotient is not a whole number in binary. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.abs(quotient);
}
