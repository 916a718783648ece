import {
  type Decision,
  isJsonObject,
  type JsonValue,
  REMEMBERED,
  type Wait,
  type WaitResolution,
} from '@hexagent/agent-core';

/** What a typed line means as the answer to a wait. */
export type TypedAnswer =
  | { readonly kind: 'resolution'; readonly resolution: WaitResolution }
  /** Answer it later. */
  | { readonly kind: 'leave' }
  /** Show the arguments for changing. */
  | { readonly kind: 'edit' }
  | { readonly kind: 'problem'; readonly problem: string };

const WORDS: Readonly<Record<string, Decision>> = {
  y: 'approve',
  yes: 'approve',
  approve: 'approve',
  n: 'reject',
  no: 'reject',
  reject: 'reject',
  e: 'modify',
  edit: 'modify',
  modify: 'modify',
  d: 'defer',
  defer: 'defer',
  c: 'cancel',
  cancel: 'cancel',
  happened: 'happened',
  'did-not-happen': 'did-not-happen',
  abandon: 'abandon',
};

const HINTS: Readonly<Record<Decision, string>> = {
  approve: '[y]es',
  reject: '[n]o [reason]',
  modify: '[e]dit [JSON]',
  defer: '[d]efer',
  cancel: '[c]ancel',
  answer: 'your answer (text or JSON)',
  result: 'the result (text or JSON)',
  happened: 'happened [JSON]',
  'did-not-happen': 'did-not-happen',
  abandon: 'abandon',
};

const ALWAYS: readonly string[] = ['a', 'always'];

/** Decisions that take whatever is typed; where they are allowed, the other words start with a slash. */
const FREE: readonly Decision[] = ['answer', 'result'];

/** What may be typed, for the prompt. */
export function answerHint(wait: Wait): string {
  const { allowed } = wait;
  const slash = takesFreeText(allowed) ? '/' : '';
  const hints = allowed.map((decision) =>
    FREE.includes(decision) ? HINTS[decision] : `${slash}${HINTS[decision]}`,
  );
  const rest = canRemember(wait) ? ['[a]lways [arguments]', '/later'] : ['/later'];
  return [...hints, ...rest].join(', ');
}

export function readAnswer(wait: Wait, line: string): TypedAnswer {
  const text = line.trim();
  if (text === '') return problem(`Type one of: ${answerHint(wait)}.`);
  if (text === '/later') return { kind: 'leave' };
  const isFree = takesFreeText(wait.allowed);
  if (isFree && !text.startsWith('/')) return resolved(wait, freeAnswer(wait.allowed, text));

  const [word = '', rest] = splitWord(text.replace(/^\//, ''));
  if (ALWAYS.includes(word.toLowerCase()) && canRemember(wait)) return always(wait, rest);
  const decision = WORDS[word.toLowerCase()];
  if (decision === undefined || !wait.allowed.includes(decision)) {
    return problem(`"${word}" is not an answer here. Type one of: ${answerHint(wait)}.`);
  }
  return decided(wait, { decision, rest });
}

/** Yes, and to later calls of this conversation: of the tool, or with these arguments only. */
function always(wait: Wait, rest: string): TypedAnswer {
  const what = REMEMBERED.find((one) => one === (rest === '' ? 'tool' : rest.toLowerCase()));
  if (what === undefined)
    return problem(`"always" takes one of: ${REMEMBERED.join(', ')}; alone it is "always tool".`);
  return resolved(wait, { decision: 'approve', remember: { what, within: 'conversation' } });
}

function canRemember({ kind, allowed }: Wait): boolean {
  return kind === 'approval' && allowed.includes('approve');
}

function decided(
  wait: Wait,
  { decision, rest }: { readonly decision: Decision; readonly rest: string },
): TypedAnswer {
  if (decision === 'modify') return modified(wait, rest);
  if (decision === 'happened') {
    return resolved(wait, { decision, result: rest === '' ? null : jsonOrText(rest) });
  }
  if (decision === 'answer' || decision === 'result') {
    return resolved(wait, freeAnswer([decision], rest));
  }
  return resolved(wait, rest === '' ? { decision } : { decision, comment: rest });
}

function modified(wait: Wait, rest: string): TypedAnswer {
  if (rest === '') return { kind: 'edit' };
  const input = jsonOrText(rest);
  return isJsonObject(input)
    ? resolved(wait, { decision: 'modify', input })
    : problem('The new arguments must be a JSON object on one line.');
}

function freeAnswer(allowed: readonly Decision[], text: string): WaitResolution {
  const value = jsonOrText(text);
  if (allowed.includes('answer')) return { decision: 'answer', value };
  const part =
    typeof value === 'string'
      ? ({ type: 'text', text: value } as const)
      : ({ type: 'data', data: value } as const);
  return { decision: 'result', outcome: 'ok', content: [part] };
}

/** Every answer is bound to what was shown. */
function resolved(wait: Wait, resolution: WaitResolution): TypedAnswer {
  return { kind: 'resolution', resolution: { ...resolution, digest: wait.digest } };
}

function problem(text: string): TypedAnswer {
  return { kind: 'problem', problem: text };
}

function takesFreeText(allowed: readonly Decision[]): boolean {
  return allowed.some((decision) => FREE.includes(decision));
}

function splitWord(text: string): readonly [word: string, rest: string] {
  const end = text.search(/\s/);
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end).trim()];
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
