import type { Message } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import {
  DECISIONS,
  type Decision,
  isJsonObject,
  type JsonValue,
  type Part,
  type Wait,
  type WaitId,
  type WaitResolution,
} from '@hexagent/agent-core';

/** The parts of a message in the words of the core. Files are not taken: the card says text and JSON. */
export function partsOf(message: Message): readonly Part[] {
  return message.parts.map(({ content }): Part => {
    if (content?.$case === 'text') return { type: 'text', text: content.value };
    if (content?.$case === 'data') return { type: 'data', data: content.value };
    throw new ContentTypeNotSupportedError(
      'This agent reads text and data parts; send the text of the file, or its address in a text part.',
    );
  });
}

/** The metadata of a message as texts: visible to policies and telemetry, never to the model. */
export function metadataOf(message: Message): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(message.metadata ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

export type Answer = { readonly waitId: WaitId; readonly resolution: WaitResolution };

/**
 * What a message to a waiting task answers. A decision is a data part `{ waitId?, decision, … }`: consent
 * is never guessed from a text. A single question that takes an answer takes the data or the text as it is.
 */
export function answersOf(message: Message, waits: readonly Wait[]): readonly Answer[] {
  const parts = partsOf(message);
  const decisions = parts.flatMap((part) =>
    part.type === 'data' && isJsonObject(part.data) && part.data.decision !== undefined
      ? [part.data]
      : [],
  );
  if (decisions.length > 0) return decisions.map((given) => answerOf(given, waits));
  const [only, ...others] = waits;
  if (only === undefined || others.length > 0 || !only.allowed.includes('answer')) {
    throw new RequestMalformedError(
      `This task waits for ${waits.map(asked).join(' and ')}. Send a data part {"waitId", "decision"}.`,
    );
  }
  const data = parts.find((part) => part.type === 'data');
  const value = data?.data ?? parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return [{ waitId: only.id, resolution: { decision: 'answer', value } }];
}

function answerOf(given: { readonly [key: string]: JsonValue }, waits: readonly Wait[]): Answer {
  const { waitId, decision, ...rest } = given;
  const wait =
    waitId === undefined && waits.length === 1 ? waits[0] : waits.find(({ id }) => id === waitId);
  if (wait === undefined) {
    throw new RequestMalformedError(
      `"waitId" is ${JSON.stringify(waitId)}; this task waits for ${waits.map(asked).join(' and ')}.`,
    );
  }
  if (!isDecision(decision) || !wait.allowed.includes(decision)) {
    throw new RequestMalformedError(
      `"decision" is ${JSON.stringify(decision)}; this task waits for ${asked(wait)}.`,
    );
  }
  // Which fields go with which decision is checked by the gateway.
  return { waitId: wait.id, resolution: { ...rest, decision } as WaitResolution };
}

function asked(wait: Wait): string {
  return `${wait.id} (${wait.allowed.join(' | ')})`;
}

function isDecision(value: unknown): value is Decision {
  return DECISIONS.some((decision) => decision === value);
}
