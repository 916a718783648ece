import type { ApprovalRules } from '../approvals/approval-rules.ts';
import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { shown } from './shown.ts';

type Field = keyof ApprovalRules;
type Rule = { readonly holds: (value: unknown) => boolean; readonly mend: string };

const among = (...choices: readonly string[]): Rule => ({
  holds: (value) => choices.some((choice) => choice === value),
  mend: `Choose one of: ${choices.join(', ')}.`,
});

const RULES: Readonly<Record<Field, Rule>> = {
  policy: {
    holds: (value) => typeof value === 'function',
    mend: 'Write a function that answers { decision, reason }.',
  },
  expiresInMs: {
    holds: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
    mend: 'Use a whole number of at least 1, or leave it out: then an approval never expires.',
  },
  onExpiry: among('reject', 'pause'),
  onReject: among('return', 'fail'),
};

/** What only a run can do that waits for its answers by itself. */
const OF_WAITS: readonly Field[] = ['expiresInMs', 'onExpiry', 'onReject'];

/** What is wrong with an agent's rules for approvals. */
export function approvalProblems(
  spec: { readonly approvals?: unknown; readonly execute?: unknown },
  { subject, durable }: { readonly subject: string; readonly durable: boolean },
): readonly Problem[] {
  const { approvals } = spec;
  const at = `${subject}.approvals`;
  if (approvals === undefined) return [];
  if (!isJsonObject(approvals))
    return [{ at, seen: `is ${shown(approvals)}.`, mend: 'Pass an object, or leave it out.' }];
  return Object.entries(approvals).flatMap(([key, value]): readonly Problem[] => {
    if (value === undefined) return [];
    const place = `${at}.${key}`;
    if (!isField(key))
      return [
        { at: place, seen: 'is not known.', mend: `Known here: ${Object.keys(RULES).join(', ')}.` },
      ];
    const rule = RULES[key];
    if (!rule.holds(value)) return [{ at: place, seen: `is ${shown(value)}.`, mend: rule.mend }];
    if (key === 'onExpiry' && approvals['expiresInMs'] === undefined)
      return [
        {
          at: place,
          seen: 'is there, and no approval ever expires.',
          mend: 'Say expiresInMs, or leave it out.',
        },
      ];
    if (!OF_WAITS.includes(key)) return [];
    if (!durable)
      return [
        {
          at: place,
          seen: 'is about questions, and this agent is stateless: it cannot ask.',
          mend: 'Say recovery: "action-boundary" on the agent, or leave it out.',
        },
      ];
    if (spec.execute === undefined) return [];
    return [
      {
        at: place,
        seen: 'is not bound when the agent has its own execute.',
        mend: 'Decide it in execute, and leave the field out.',
      },
    ];
  });
}

function isField(key: string): key is Field {
  return Object.hasOwn(RULES, key);
}
