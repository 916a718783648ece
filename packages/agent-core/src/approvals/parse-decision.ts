import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Part } from '../vocabulary/message.ts';
import {
  DECISIONS,
  type Decision,
  REMEMBERED,
  REMEMBERED_WITHIN,
  type Wait,
  type WaitResolution,
} from '../vocabulary/wait.ts';

/** The answer to a wait, or everything that is wrong with it. */
export type DecisionReading =
  | { readonly ok: true; readonly resolution: WaitResolution }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** What a payload is held against. Without a `kind` no approval can be remembered. */
export type DecisionTarget = Pick<Wait, 'id' | 'runId' | 'allowed'> & Partial<Pick<Wait, 'kind'>>;

/**
 * Reads the payload of an answer: `{ decision, comment?, digest?, waitId?, runId? }` and, by decision, `input` (modify), `value` (answer),
 * `outcome` and `content` (result), `result` (happened), `remember` (approve, which may leave it out).
 *
 * Refused, all problems at once: what is no object, a decision that there is not or that this wait does not allow, a wait or run
 * that is another one, a blank comment, a field that is missing or of another decision, an approval to be remembered where no call is
 * approved.
 * Whether edited arguments fit the tool is the runner's to check: it knows the tool.
 */
export function parseDecision(payload: unknown, target: DecisionTarget): DecisionReading {
  if (!isJsonObject(payload)) {
    return {
      ok: false,
      problems: [
        {
          at: 'decision',
          seen: `is ${JSON.stringify(payload) ?? typeof payload}.`,
          mend: 'Send an object: { "decision": "approve" }.',
        },
      ],
    };
  }
  const { decision } = payload;
  const known = DECISIONS.find((one) => one === decision);
  const problems = [
    ...decisionProblems(decision, known, target.allowed),
    ...targetProblems(payload, target),
    ...textProblems(payload),
    ...(known === undefined ? [] : fieldProblems(payload, known)),
    ...(known === 'approve' ? rememberProblems(payload['remember'], target) : []),
  ];
  if (problems.length > 0 || known === undefined) return { ok: false, problems };
  return { ok: true, resolution: resolutionOf(payload, known) };
}

type Rule = { readonly holds: (value: JsonValue) => boolean; readonly mend: string };

/** What each decision carries beside the fields of all. */
const FIELDS: Readonly<Partial<Record<Decision, Readonly<Record<string, Rule>>>>> = {
  modify: { input: { holds: isJsonObject, mend: 'Send the whole edited arguments as an object.' } },
  answer: {
    value: { holds: () => true, mend: 'Send the value that was waited for; null is one.' },
  },
  result: {
    outcome: {
      holds: (value) => value === 'ok' || value === 'error',
      mend: 'Say how the tool ended: "ok" or "error".',
    },
    content: { holds: isParts, mend: 'Send a list of parts: [{ "type": "text", "text": "…" }].' },
  },
  happened: {
    result: { holds: () => true, mend: 'Send the result that the effect had; null is one.' },
  },
};

/** What a decision may carry beside that, or leave out. */
const OPTIONAL: Readonly<Partial<Record<Decision, readonly string[]>>> = { approve: ['remember'] };

const COMMON = ['decision', 'comment', 'digest', 'waitId', 'runId'];

function decisionProblems(
  decision: JsonValue | undefined,
  known: Decision | undefined,
  allowed: readonly Decision[],
): readonly Problem[] {
  const mend = `Send one of: ${allowed.join(', ')}.`;
  if (known === undefined)
    return [{ at: 'decision', seen: `is ${JSON.stringify(decision) ?? 'missing'}.`, mend }];
  return allowed.includes(known)
    ? []
    : [{ at: 'decision', seen: `is "${known}", which this wait does not allow.`, mend }];
}

function targetProblems(payload: JsonObject, target: DecisionTarget): readonly Problem[] {
  const named = [
    { at: 'waitId', given: payload.waitId, expected: target.id },
    { at: 'runId', given: payload.runId, expected: target.runId },
  ];
  return named
    .filter(({ given, expected }) => given !== undefined && given !== expected)
    .map(({ at, given, expected }) => ({
      at,
      seen: `is ${JSON.stringify(given)}, but the answer went to "${expected}".`,
      mend: 'Answer the wait that you mean, or leave this field out.',
    }));
}

function textProblems(payload: JsonObject): readonly Problem[] {
  return ['comment', 'digest']
    .filter(
      (at) =>
        payload[at] !== undefined && (typeof payload[at] !== 'string' || payload[at].trim() === ''),
    )
    .map((at) => ({
      at,
      seen: `is ${JSON.stringify(payload[at])}.`,
      mend: 'Send a text that is not blank, or leave it out.',
    }));
}

function rememberProblems(
  remember: JsonValue | undefined,
  { kind }: DecisionTarget,
): readonly Problem[] {
  if (remember === undefined) return [];
  if (kind !== 'approval')
    return [
      {
        at: 'remember',
        seen: `does not belong to a wait of kind "${kind ?? 'unknown'}".`,
        mend: 'Leave it out: only the approval of a call can be remembered.',
      },
    ];
  const given: JsonObject = isJsonObject(remember) ? remember : {};
  const choices = { what: REMEMBERED, within: REMEMBERED_WITHIN };
  const wrong = Object.entries(choices).flatMap(([key, allowed]) => {
    const value = given[key];
    if (allowed.some((one) => one === value)) return [];
    const mend = `Choose one of: ${allowed.join(', ')}.`;
    return [{ at: `remember.${key}`, seen: `is ${JSON.stringify(value) ?? 'missing'}.`, mend }];
  });
  const stray = Object.keys(given)
    .filter((key) => !Object.hasOwn(choices, key))
    .map((key) => ({
      at: `remember.${key}`,
      seen: 'is not known.',
      mend: 'Send what and within.',
    }));
  return [...wrong, ...stray];
}

function fieldProblems(payload: JsonObject, decision: Decision): readonly Problem[] {
  const rules = FIELDS[decision] ?? {};
  const known = [...COMMON, ...Object.keys(rules), ...(OPTIONAL[decision] ?? [])];
  const stray = Object.keys(payload)
    .filter((at) => !known.includes(at))
    .map((at) => ({
      at,
      seen: `does not belong to the decision "${decision}".`,
      mend: `Send ${known.join(', ')} at most.`,
    }));
  const wrong = Object.entries(rules).flatMap(([at, { holds, mend }]) => {
    const value = Object.hasOwn(payload, at) ? payload[at] : undefined;
    if (value !== undefined && holds(value)) return [];
    return [
      {
        at,
        seen:
          value === undefined
            ? 'is missing.'
            : `is a ${Array.isArray(value) ? 'list' : typeof value} that does not fit.`,
        mend,
      },
    ];
  });
  return [...stray, ...wrong];
}

function resolutionOf(payload: JsonObject, decision: Decision): WaitResolution {
  const fields = [
    ...Object.keys(FIELDS[decision] ?? {}),
    ...(OPTIONAL[decision] ?? []),
    'comment',
    'digest',
  ];
  const given = fields
    .filter((field) => payload[field] !== undefined)
    .map((field) => [field, payload[field]]);
  return { decision, ...Object.fromEntries(given) };
}

/** Parts of a result from outside: text, data and media; nothing that could pass for a call. */
function isParts(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isPart);
}

function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  switch (part.type as Part['type']) {
    case 'text':
      return typeof part.text === 'string';
    case 'data':
      return part.data !== undefined;
    case 'media':
      return typeof part.mediaType === 'string' && isMediaSource(part.source);
    default:
      return false;
  }
}

function isMediaSource(source: JsonValue | undefined): boolean {
  if (!isJsonObject(source)) return false;
  const field = ({ url: 'url', inline: 'base64', blob: 'ref' } as Readonly<Record<string, string>>)[
    String(source.kind)
  ];
  return field !== undefined && typeof source[field] === 'string';
}
