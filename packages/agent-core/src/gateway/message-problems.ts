import type { Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import {
  CALL_OUTCOMES,
  isMediaPart,
  MESSAGE_ROLES,
  type Message,
  type Part,
} from '../vocabulary/message.ts';

/** What is wrong with the message of a run: a text, or parts that a user may send. */
export function messageProblems(message: unknown, at: string): readonly Problem[] {
  if (typeof message === 'string')
    return message.trim() === '' ? [{ at, seen: 'is blank.', mend: 'Send a text, or parts.' }] : [];
  if (!Array.isArray(message) || message.length === 0)
    return [{ at, seen: `is ${shown(message)}.`, mend: 'Send a text, or a list of parts.' }];
  return partProblems(message, { at, types: USER_PARTS });
}

/** What is wrong with a client's own history. The system message is the agent's: it is not taken from a client. */
export function historyProblems(history: unknown, at: string): readonly Problem[] {
  if (history === undefined) return [];
  if (!Array.isArray(history))
    return [{ at, seen: 'is not a list.', mend: 'Send a list of messages.' }];
  return history.flatMap((message: unknown, index): readonly Problem[] => {
    const place = `${at}[${index}]`;
    if (!isJsonObject(message) || !Array.isArray(message['parts']))
      return [
        { at: place, seen: 'is not a message.', mend: 'Send { "role", "parts", "origin" }.' },
      ];
    return [
      ...choice(message['role'], {
        at: `${place}.role`,
        of: MESSAGE_ROLES.filter((role) => role !== 'system'),
      }),
      ...choice(message['origin'], { at: `${place}.origin`, of: ORIGINS }),
      ...partProblems(message['parts'], { at: `${place}.parts`, types: ALL_PARTS }),
    ];
  });
}

/** What most of a history is, known without a list: a message of texts. Long histories are checked with every run. */
export function isTextTurn(message: unknown): message is Message {
  if (typeof message !== 'object' || message === null) return false;
  const { role, origin, parts } = message as Partial<Message>;
  if (role !== 'user' && role !== 'assistant') return false;
  if (origin !== 'user' && origin !== 'model' && origin !== 'framework') return false;
  if (!Array.isArray(parts)) return false;
  for (const part of parts as readonly Partial<Part>[]) {
    if (part?.type !== 'text' || typeof part.text !== 'string') return false;
  }
  return true;
}

/** A value as an input error shows it, of whatever kind. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const json = toJson(value);
  return json.ok ? clipped(JSON.stringify(json.value)) : `a value of type ${typeof value}`;
}

/** The beginning of a text that came from outside: an error is no place for all of it. */
export function clipped(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 80)}… (${text.length} characters)`;
}

const ORIGINS = ['user', 'model', 'tool', 'framework'];
/** Calls and results are the framework's own. */
const USER_PARTS: readonly Part['type'][] = ['text', 'data', 'media'];
const ALL_PARTS: readonly Part['type'][] = [...USER_PARTS, 'reasoning', 'tool-call', 'tool-result'];

type Form = {
  readonly fits: (part: Readonly<Record<string, unknown>>) => boolean;
  readonly mend: string;
};

const text: Form = {
  fits: (part) => typeof part['text'] === 'string',
  mend: 'Send { "type", "text": "…" }.',
};

const FORMS: Readonly<Record<Part['type'], Form>> = {
  text,
  reasoning: text,
  data: {
    fits: (part) => part['data'] !== undefined,
    mend: 'Send { "type": "data", "data": a JSON value }.',
  },
  media: {
    fits: isMediaPart,
    mend: 'Send { "type": "media", "mediaType": "image/png", "source": { "kind": "url", "url": "…" } }.',
  },
  'tool-call': {
    fits: (part) =>
      typeof part['callId'] === 'string' &&
      typeof part['toolName'] === 'string' &&
      isJsonObject(part['input']),
    mend: 'Send { "type": "tool-call", "callId", "toolName", "input": an object }.',
  },
  'tool-result': {
    fits: (part) =>
      typeof part['callId'] === 'string' &&
      (CALL_OUTCOMES as readonly unknown[]).includes(part['outcome']) &&
      Array.isArray(part['content']) &&
      partProblems(part['content'], { at: '', types: USER_PARTS }).length === 0,
    mend: 'Send { "type": "tool-result", "callId", "outcome": "ok", "content": parts }.',
  },
};

function partProblems(
  parts: readonly unknown[],
  { at, types }: { readonly at: string; readonly types: readonly Part['type'][] },
): readonly Problem[] {
  return parts.flatMap((part, index): readonly Problem[] => {
    const place = `${at}[${index}]`;
    if (!isJsonObject(part))
      return [{ at: place, seen: 'is not a part.', mend: 'Send { "type": "text", "text": "…" }.' }];
    const type = types.find((one) => one === part['type']);
    if (type === undefined) return choice(part['type'], { at: `${place}.type`, of: types });
    const { fits, mend } = FORMS[type];
    return fits(part) ? [] : [{ at: place, seen: `is no part of the type "${type}".`, mend }];
  });
}

function choice(
  value: unknown,
  { at, of }: { readonly at: string; readonly of: readonly string[] },
): readonly Problem[] {
  if ((of as readonly unknown[]).includes(value)) return [];
  return [{ at, seen: `is ${shown(value)}.`, mend: `Choose one of: ${of.join(', ')}.` }];
}
