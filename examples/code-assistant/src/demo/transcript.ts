import { type JsonValue, type Message, type Part, textOf } from '@hexagent/agent-core';

/** A call of the current turn and what came of it, as a model reads it. */
export type Answered = {
  readonly toolName: string;
  readonly outcome: 'ok' | 'error' | 'denied' | 'interrupted';
  readonly text: string;
  readonly data: JsonValue | undefined;
};

/** The last message of the user, and the calls that were answered since. */
export type Turn = { readonly asked: string; readonly answered: readonly Answered[] };

/** Everything a model knows comes with its request: nothing is remembered between two requests. */
export function turnOf(messages: readonly Message[]): Turn {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const parts = messages.slice(start + 1).flatMap((message) => message.parts);
  const names = new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.callId, part.toolName]] : [])),
  );
  const answered = parts.flatMap((part) =>
    part.type === 'tool-result'
      ? [
          {
            toolName: names.get(part.callId) ?? 'unknown',
            outcome: part.outcome,
            text: textOf(part.content),
            data: dataOf(part.content),
          },
        ]
      : [],
  );
  return { asked: textOf(messages[start]?.parts ?? []), answered };
}

function dataOf(content: readonly Part[]): JsonValue | undefined {
  for (const part of content) if (part.type === 'data') return part.data;
  try {
    return JSON.parse(textOf(content)) as JsonValue;
  } catch {
    return undefined;
  }
}
