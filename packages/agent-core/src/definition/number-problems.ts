import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { picosOf } from '../vocabulary/cost.ts';
import { shown } from './shown.ts';

type Rule = { readonly holds: (value: unknown) => boolean; readonly mend: string };

const wholeFrom = (least: number): Rule => ({
  holds: (value) => Number.isInteger(value) && (value as number) >= least,
  mend: `Use a whole number of at least ${least}.`,
});

const LIMITS: Readonly<Record<string, Rule>> = {
  maxSteps: wholeFrom(1),
  maxToolCalls: wholeFrom(1),
  maxTokens: wholeFrom(1),
  timeoutMs: wholeFrom(1),
  maxOutputRetries: wholeFrom(0),
  maxCost: {
    holds: isAmount,
    mend: "Give an amount above 0 and its currency: { amount: '0.50', currency: 'USD' }.",
  },
};

function isAmount(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { amount, currency, ...more } = value;
  const picos = typeof amount === 'string' ? picosOf(amount) : undefined;
  const isMoney = picos !== undefined && picos > 0n;
  return isMoney && typeof currency === 'string' && currency.trim() !== '' && isEmpty(more);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

const SAMPLING: Readonly<Record<string, Rule>> = {
  temperature: {
    holds: (value) => typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY,
    mend: 'Use a number of at least 0.',
  },
  topP: {
    holds: (value) => typeof value === 'number' && value > 0 && value <= 1,
    mend: 'Use a number above 0, at most 1.',
  },
  maxTokens: wholeFrom(1),
};

/** What is wrong with the limits of an agent. */
export function limitProblems(limits: unknown, at: string): readonly Problem[] {
  return numberProblems(limits, { at, rules: LIMITS });
}

/** What is wrong with the sampling of an agent. */
export function samplingProblems(sampling: unknown, at: string): readonly Problem[] {
  return numberProblems(sampling, { at, rules: SAMPLING });
}

function numberProblems(
  given: unknown,
  {
    at,
    rules,
  }: {
    readonly at: string;
    readonly rules: Readonly<Record<string, Rule>>;
  },
): readonly Problem[] {
  if (given === undefined) return [];
  if (!isJsonObject(given))
    return [{ at, seen: `is ${shown(given)}.`, mend: 'Pass an object of numbers.' }];
  return Object.entries(given).flatMap(([key, value]): readonly Problem[] => {
    if (value === undefined) return [];
    const place = `${at}.${key}`;
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (rule === undefined)
      return [
        {
          at: place,
          seen: 'is not known.',
          mend: `Known here: ${Object.keys(rules).join(', ')}.`,
        },
      ];
    return rule.holds(value) ? [] : [{ at: place, seen: `is ${shown(value)}.`, mend: rule.mend }];
  });
}
