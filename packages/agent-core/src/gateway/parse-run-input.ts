import { inputInvalid, type Problem } from '../base/error-catalog.ts';
import { isJsonObject } from '../base/json.ts';
import { MESSAGE_ROLES } from '../vocabulary/message.ts';
import type { RunInput } from '../vocabulary/run-input.ts';

const FIELDS = [
  'message',
  'conversationId',
  'parentRunId',
  'history',
  'clientTools',
  'selection',
  'state',
  'metadata',
  'dependencies',
];
const ID = /^[A-Za-z0-9._~:@-]{1,256}$/;

/**
 * The input of a run as the framework takes it, checked once at the edge.
 *
 * @throws AgentError `INPUT_INVALID` with every problem at once; nothing was started.
 */
export function parseRunInput(input: unknown): RunInput {
  if (typeof input === 'object' && input !== null && isPlain(input as RunInput))
    return input as RunInput;
  const problems = isJsonObject(input)
    ? problemsOf(input)
    : [{ at: 'input', seen: 'is not an object.', mend: 'Send { "message": "…" }.' }];
  if (problems.length > 0) throw inputInvalid('The run input', problems);
  return input as unknown as RunInput;
}

/** The common case, decided without a list: a text and nothing else. */
function isPlain(input: RunInput): boolean {
  if (typeof input.message !== 'string' || input.message.trim() === '') return false;
  for (const key in input) if (key !== 'message') return false;
  return true;
}

function problemsOf(input: Readonly<Record<string, unknown>>): readonly Problem[] {
  const problems: Problem[] = [];
  for (const key of Object.keys(input)) {
    if (!FIELDS.includes(key))
      problems.push({
        at: `input.${key}`,
        seen: 'is not a field of a run input.',
        mend: `Known fields: ${FIELDS.join(', ')}. A decision goes through resolve, never here.`,
      });
  }
  problems.push(...messageProblems(input['message'], 'input.message'));
  for (const field of ['conversationId', 'parentRunId']) {
    const value = input[field];
    if (value !== undefined && (typeof value !== 'string' || !ID.test(value))) {
      problems.push({
        at: `input.${field}`,
        seen: `is ${JSON.stringify(value)}.`,
        mend: 'Use 1 to 256 letters, digits or ". _ ~ : @ -".',
      });
    }
  }
  problems.push(...historyProblems(input['history']));
  problems.push(...clientToolProblems(input['clientTools']));
  for (const field of ['selection', 'state', 'metadata', 'dependencies']) {
    const value = input[field];
    if (value !== undefined && !isJsonObject(value))
      problems.push({
        at: `input.${field}`,
        seen: `is ${JSON.stringify(value)}.`,
        mend: 'Send an object.',
      });
  }
  for (const [key, value] of Object.entries(
    isJsonObject(input['metadata']) ? input['metadata'] : {},
  )) {
    const at = `input.metadata.${key}`;
    if (typeof value !== 'string')
      problems.push({
        at,
        seen: `is ${JSON.stringify(value)}.`,
        mend: 'Metadata is text to text.',
      });
    if (key.startsWith('hexagent.'))
      problems.push({
        at,
        seen: 'is a key of the framework.',
        mend: 'Choose a key without "hexagent.".',
      });
  }
  return problems;
}

function messageProblems(message: unknown, at: string): readonly Problem[] {
  if (typeof message === 'string') {
    return message.trim() === '' ? [{ at, seen: 'is blank.', mend: 'Send a text, or parts.' }] : [];
  }
  return Array.isArray(message) && message.length > 0
    ? partProblems(message, at)
    : [
        {
          at,
          seen: `is ${JSON.stringify(message) ?? 'missing'}.`,
          mend: 'Send a text, or a list of parts.',
        },
      ];
}

/** What a user may send: text, media and data. Calls and results are the framework's own. */
function partProblems(parts: readonly unknown[], at: string): readonly Problem[] {
  return parts.flatMap((part, index): readonly Problem[] => {
    const place = `${at}[${index}]`;
    if (!isJsonObject(part))
      return [{ at: place, seen: 'is not a part.', mend: 'Send { "type": "text", "text": "…" }.' }];
    switch (part['type']) {
      case 'text':
        return typeof part['text'] === 'string'
          ? []
          : [{ at: `${place}.text`, seen: 'is missing.', mend: 'Send a text.' }];
      case 'data':
        return 'data' in part
          ? []
          : [{ at: `${place}.data`, seen: 'is missing.', mend: 'Send a JSON value.' }];
      case 'media':
        return typeof part['mediaType'] === 'string' && isJsonObject(part['source'])
          ? []
          : [
              {
                at: place,
                seen: 'has no mediaType or source.',
                mend: 'Send { "type": "media", "mediaType": "image/png", "source": { "kind": "url", "url": "…" } }.',
              },
            ];
      default:
        return [
          {
            at: `${place}.type`,
            seen: `is ${JSON.stringify(part['type'])}.`,
            mend: 'A user sends text, data or media.',
          },
        ];
    }
  });
}

function historyProblems(history: unknown): readonly Problem[] {
  if (history === undefined) return [];
  if (!Array.isArray(history))
    return [{ at: 'input.history', seen: 'is not a list.', mend: 'Send a list of messages.' }];
  return history.flatMap((message: unknown, index): readonly Problem[] => {
    const at = `input.history[${index}]`;
    if (!isJsonObject(message) || !Array.isArray(message['parts']))
      return [{ at, seen: 'is not a message.', mend: 'Send { "role", "parts", "origin" }.' }];
    if (!(MESSAGE_ROLES as readonly unknown[]).includes(message['role']))
      return [
        {
          at: `${at}.role`,
          seen: `is ${JSON.stringify(message['role'])}.`,
          mend: `Choose one of: ${MESSAGE_ROLES.join(', ')}.`,
        },
      ];
    if (message['role'] === 'system')
      return [
        {
          at: `${at}.role`,
          seen: 'is "system".',
          mend: 'The system message is the agent’s own: leave it out.',
        },
      ];
    return [];
  });
}

function clientToolProblems(tools: unknown): readonly Problem[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools))
    return [{ at: 'input.clientTools', seen: 'is not a list.', mend: 'Send a list of tools.' }];
  return tools.flatMap((tool: unknown, index): readonly Problem[] => {
    const fits =
      isJsonObject(tool) &&
      typeof tool['name'] === 'string' &&
      typeof tool['description'] === 'string' &&
      isJsonObject(tool['parameters']);
    return fits
      ? []
      : [
          {
            at: `input.clientTools[${index}]`,
            seen: 'is not a tool.',
            mend: 'Send { "name", "description", "parameters": JSON Schema }.',
          },
        ];
  });
}
