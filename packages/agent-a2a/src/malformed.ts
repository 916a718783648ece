import { isJsonObject, type JsonValue } from '@hexagent/agent-core';

const CONTENTS = ['text', 'data', 'url', 'raw'] as const;

/** What is wrong with the parameters of a method, all of it; the codecs of the SDK take anything. */
export function problemsOf(method: string, params: JsonValue): readonly string[] {
  if (!isJsonObject(params)) return ['params is not an object'];
  if (method === 'GetTask' || method === 'CancelTask') return textProblems(params.id, 'params.id');
  if (method === 'SendMessage') return messageProblems(params.message);
  return [];
}

function messageProblems(message: JsonValue | undefined): readonly string[] {
  if (message === undefined || !isJsonObject(message)) return ['params.message is not an object'];
  const problems = [...textProblems(message.messageId, 'params.message.messageId')];
  if (message.role !== 'ROLE_USER' && message.role !== 1) {
    problems.push(`params.message.role is ${JSON.stringify(message.role)}, not "ROLE_USER"`);
  }
  if (!Array.isArray(message.parts) || message.parts.length === 0) {
    return [...problems, 'params.message.parts is not a list with at least one part'];
  }
  message.parts.forEach((part: JsonValue, index) => {
    const kinds = isJsonObject(part) ? CONTENTS.filter((kind) => part[kind] !== undefined) : [];
    if (kinds.length !== 1) {
      problems.push(`params.message.parts[${index}] has not exactly one of ${CONTENTS.join(', ')}`);
    } else if (isJsonObject(part) && part.text !== undefined && typeof part.text !== 'string') {
      problems.push(`params.message.parts[${index}].text is not a string`);
    }
  });
  return problems;
}

function textProblems(value: JsonValue | undefined, at: string): readonly string[] {
  return typeof value === 'string' && value.trim() !== '' ? [] : [`${at} is not a text`];
}
