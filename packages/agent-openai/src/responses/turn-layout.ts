import type { Message, ProviderState } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/**
 * One item of an assistant turn as the provider ordered it. Reasoning is kept whole, because nobody can make it anew;
 * texts and calls are only named, since their content is in the message and may be changed there.
 */
export type LayoutItem =
  | { readonly kind: 'reasoning'; readonly item: JsonObject }
  | {
      readonly kind: 'text';
      /** In UTF-16 units of the turn's whole text. */
      readonly length: number;
      readonly id?: string;
      readonly phase?: 'commentary' | 'final_answer';
    }
  /** Which call of the turn, from 0. */
  | { readonly kind: 'call'; readonly index: number };

/** The layout as state of the message, under the name of its provider; undefined when plain order (text, then calls) says the same. */
export function layoutState(
  items: readonly LayoutItem[],
  provider: string,
): ProviderState | undefined {
  const isPlain = items.every(
    (item, place) =>
      item.kind === 'call' || (item.kind === 'text' && place === 0 && item.phase === undefined),
  );
  if (isPlain) return undefined;
  const written = items.map((item): JsonObject => ({ ...item }));
  return { provider, value: { items: written } };
}

/** The layout that a message carries, if it is one of this provider; its state may have been stored, so nothing of it is believed. */
export function layoutOf({ parts }: Message, provider: string): readonly LayoutItem[] | undefined {
  for (const part of parts) {
    if (part.type !== 'reasoning' || part.provider?.provider !== provider) continue;
    const { value } = part.provider;
    const items = isJsonObject(value) ? value['items'] : undefined;
    if (Array.isArray(items)) return items.flatMap((item: JsonValue) => itemOf(item) ?? []);
  }
  return undefined;
}

function itemOf(value: JsonValue): LayoutItem | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, item, length, id, phase, index } = value;
  if (kind === 'reasoning' && isJsonObject(item)) return { kind, item };
  if (kind === 'call' && typeof index === 'number') return { kind, index };
  if (kind !== 'text' || typeof length !== 'number') return undefined;
  return {
    kind,
    length,
    ...(typeof id === 'string' ? { id } : {}),
    ...(phase === 'commentary' || phase === 'final_answer' ? { phase } : {}),
  };
}

/**
 * A reasoning item as it goes back: without its status, which no request may carry, and without the plain text of what
 * is there in encrypted form. Undefined when the provider could not read it: nothing was stored there.
 */
export function replayable(item: JsonObject): JsonObject | undefined {
  const { status: _status, content, encrypted_content: encrypted, ...rest } = item;
  if (typeof encrypted === 'string' && encrypted !== '') {
    return { ...rest, encrypted_content: encrypted };
  }
  const isOpen = Array.isArray(content) && content.length > 0;
  return isOpen ? { ...rest, content } : undefined;
}
