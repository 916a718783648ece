import { isJsonObject, type JsonObject } from '@hexagent/agent-core';
import {
  checkEach,
  checkField,
  checkId,
  checkWord,
  isAbsent,
  kindOf,
  type Problems,
} from './checks.ts';

const ROLES = [
  'developer',
  'system',
  'assistant',
  'user',
  'tool',
  'activity',
  'reasoning',
] as const;
const MEDIA = ['image', 'audio', 'video', 'document'] as const;
const SOURCES = ['data', 'url', 'file'] as const;

/** What is wrong with one message of a client (AG-UI 1.0, `Message`). */
export function checkMessage(problems: Problems, message: unknown, at: string): void {
  if (!isJsonObject(message)) {
    problems.push({
      at,
      seen: `is ${kindOf(message)}.`,
      mend: 'Send a message: { "id", "role", "content" }.',
    });
    return;
  }
  checkId(problems, message['id'], `${at}.id`);
  const { role, content } = message;
  switch (role) {
    case 'user':
      checkContent(problems, content, `${at}.content`);
      break;
    case 'tool':
      checkId(problems, message['toolCallId'], `${at}.toolCallId`);
      checkField(problems, message['error'], { at: `${at}.error`, kind: 'a text', optional: true });
      checkContent(problems, content, `${at}.content`);
      break;
    case 'assistant':
      checkField(problems, content, { at: `${at}.content`, kind: 'a text', optional: true });
      checkCalls(problems, message['toolCalls'], `${at}.toolCalls`);
      break;
    case 'activity':
      checkField(problems, content, { at: `${at}.content`, kind: 'an object' });
      break;
    case 'system':
    case 'developer':
    case 'reasoning':
      checkField(problems, content, { at: `${at}.content`, kind: 'a text' });
      break;
    default:
      checkWord(problems, role, { at: `${at}.role`, words: ROLES });
  }
}

function checkCalls(problems: Problems, calls: unknown, at: string): void {
  if (isAbsent(calls)) return;
  if (!Array.isArray(calls)) {
    checkField(problems, calls, { at, kind: 'a list', optional: true });
    return;
  }
  checkEach(problems, calls, (call, index) => {
    const place = `${at}[${index}]`;
    const known: JsonObject = isJsonObject(call) ? call : {};
    checkId(problems, known['id'], `${place}.id`);
    const target: JsonObject = isJsonObject(known['function']) ? known['function'] : {};
    checkId(problems, target['name'], `${place}.function.name`);
    checkField(problems, target['arguments'], {
      at: `${place}.function.arguments`,
      kind: 'a text',
    });
  });
}

function checkContent(problems: Problems, content: unknown, at: string): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    problems.push({ at, seen: `is ${kindOf(content)}.`, mend: 'Send a text, or a list of parts.' });
    return;
  }
  checkEach(problems, content, (part, index) => {
    checkPart(problems, part, `${at}[${index}]`);
  });
}

function checkPart(problems: Problems, part: unknown, at: string): void {
  const known: JsonObject = isJsonObject(part) ? part : {};
  if (known['type'] === 'text') {
    checkField(problems, known['text'], { at: `${at}.text`, kind: 'a text' });
    return;
  }
  if (!MEDIA.some((kind) => kind === known['type'])) {
    checkWord(problems, known['type'], { at: `${at}.type`, words: ['text', ...MEDIA] });
    return;
  }
  const source: JsonObject = isJsonObject(known['source']) ? known['source'] : {};
  checkWord(problems, source['type'], { at: `${at}.source.type`, words: SOURCES });
  checkField(problems, source['value'], { at: `${at}.source.value`, kind: 'a text' });
  if (source['type'] === 'data')
    checkField(problems, source['mimeType'], { at: `${at}.source.mimeType`, kind: 'a text' });
  if (source['type'] === 'file')
    problems.push({
      at: `${at}.source`,
      seen: 'is a file of a provider, which this server cannot read.',
      mend: 'Send the data itself, or an address.',
    });
}
