import type { CallId, JsonObject, Message, Part } from '@hexagent/agent-core';
import { callIdOf } from '@hexagent/agent-core';

export const assistant = (...parts: readonly Part[]): Message => ({
  role: 'assistant',
  parts,
  origin: 'model',
});
export const results = (...parts: readonly Part[]): Message => ({
  role: 'tool',
  parts,
  origin: 'tool',
});
export const user = (...parts: readonly Part[]): Message => ({
  role: 'user',
  parts,
  origin: 'user',
});
export const text = (value: string): Part => ({ type: 'text', text: value });

export function calling(callId: string, providerCallId?: string, input: JsonObject = {}): Part {
  return {
    type: 'tool-call',
    callId: callIdOf(callId),
    ...(providerCallId === undefined ? {} : { providerCallId }),
    toolName: 'workspace.search',
    input,
  };
}

export function result(
  callId: string,
  content: readonly Part[],
  outcome: 'ok' | 'error' | 'denied' | 'interrupted' = 'ok',
): Part {
  return { type: 'tool-result', callId: callIdOf(callId) satisfies CallId, outcome, content };
}

export function media(mediaType: string, url?: string): Part {
  const source =
    url === undefined
      ? ({ kind: 'inline', base64: 'QUJD' } as const)
      : ({ kind: 'url', url } as const);
  return { type: 'media', mediaType, source };
}

/** Opaque state of a provider, as core keeps it beside the reasoning. */
export function state(items: readonly JsonObject[], provider = 'openai'): Part {
  return { type: 'reasoning', text: 'Hm.', provider: { provider, value: { items } } };
}
