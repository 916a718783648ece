import { isJsonObject, type JsonObject, type Wait } from '@hexagent/agent-core';

/** What a wait asks, read out of its prompt: prompts of other tools may have any shape. */
export type WaitQuestion = {
  readonly message: string;
  readonly toolName?: string;
  /** The exact arguments in question. */
  readonly input?: JsonObject;
  /** The axes of risk: `write`, `network`, … */
  readonly risk: readonly string[];
  /** Why a policy wants a person to decide. */
  readonly reason?: string;
  /** What somebody should know before answering. */
  readonly hint?: string;
  /** What an answer has to be. */
  readonly schema?: JsonObject;
  /** Why an earlier answer did not do. */
  readonly problems: readonly string[];
};

const DEFAULT_MESSAGES: Readonly<Record<Wait['kind'], string>> = {
  approval: 'A tool call asks for approval.',
  'client-result': 'A tool of the client waits for its result.',
  event: 'The run waits for an event:',
  timer: 'The run rests until',
  auth: 'The run needs somebody to sign in.',
  input: 'The run asks for input.',
  recovery: 'Nobody knows whether this call took effect.',
};

/** The member of a prompt that belongs behind its message. */
const DETAILS: { readonly [K in Wait['kind']]?: string } = {
  event: 'name',
  timer: 'at',
  auth: 'url',
};

export function questionOf({ kind, prompt }: Wait): WaitQuestion {
  const toolName = textIn(prompt, 'tool');
  const input = prompt['arguments'];
  const message = textIn(prompt, 'message') ?? textIn(prompt, 'question') ?? DEFAULT_MESSAGES[kind];
  const detail = DETAILS[kind] === undefined ? undefined : textIn(prompt, DETAILS[kind]);
  const schema = prompt['schema'];
  const reason = textIn(prompt, 'reason');
  const hint = textIn(prompt, 'hint');
  return {
    message: detail === undefined ? message : `${message} ${detail}`,
    ...(toolName === undefined ? {} : { toolName }),
    ...(isJsonObject(input) ? { input } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(hint === undefined ? {} : { hint }),
    ...(isJsonObject(schema) ? { schema } : {}),
    risk: textsIn(prompt, 'risk'),
    problems: [...textsIn(prompt, 'problems'), ...callsIn(prompt)],
  };
}

/** The calls that a question about a whole run is about, and what is with each. */
function callsIn(prompt: JsonObject): readonly string[] {
  const calls = prompt['calls'];
  if (!Array.isArray(calls)) return [];
  return calls.filter(isJsonObject).map((call) => {
    const about = textIn(call, 'changed') ?? textIn(call, 'stage');
    return [textIn(call, 'tool'), textIn(call, 'callId'), about].filter(Boolean).join(' · ');
  });
}

function textsIn(prompt: JsonObject, key: string): readonly string[] {
  const value = prompt[key];
  return Array.isArray(value) ? value.map(String) : [];
}

function textIn(prompt: JsonObject, key: string): string | undefined {
  const value = prompt[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
