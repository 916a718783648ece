import type { Message, ProviderState } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** A block of an assistant turn: what only the provider understands is whole, what the message holds is pointed at. */
export type LayoutItem =
  | { readonly kind: 'block'; readonly block: JsonObject }
  /** So many UTF-16 units of the message's text. */
  | { readonly kind: 'text'; readonly length: number }
  /** The call with that place among the message's calls. */
  | { readonly kind: 'call'; readonly index: number };

/** The order in which an assistant turn came, which a replay must keep. */
export type TurnLayout = {
  readonly items: readonly LayoutItem[];
  /** The provider has paused this turn: it goes on from here. */
  readonly isPaused: boolean;
};

/** The layout as the state that the message carries; undefined where the plain order (texts, then calls) says as much. */
export function layoutState(layout: TurnLayout, provider: string): ProviderState | undefined {
  if (!layout.isPaused && isPlain(layout.items)) return undefined;
  return {
    provider,
    value: {
      order: layout.items.map(itemValue),
      ...(layout.isPaused ? { paused: true } : {}),
    },
  };
}

/** The layout that this provider left in a message; undefined when there is none or it cannot be read. */
export function layoutOf({ parts }: Message, provider: string): TurnLayout | undefined {
  for (const part of parts) {
    if (part.type !== 'reasoning' || part.provider?.provider !== provider) continue;
    const { value } = part.provider;
    if (!isJsonObject(value)) continue;
    const { order } = value;
    if (!Array.isArray(order)) continue;
    return {
      items: order.map(itemOf).filter((item) => item !== undefined),
      isPaused: value['paused'] === true,
    };
  }
  return undefined;
}

function isPlain(items: readonly LayoutItem[]): boolean {
  const firstCall = items.findIndex(({ kind }) => kind === 'call');
  return items.every(
    ({ kind }, index) =>
      kind !== 'block' && (kind === 'call' || firstCall === -1 || index < firstCall),
  );
}

function itemValue(item: LayoutItem): JsonObject {
  switch (item.kind) {
    case 'block':
      return { block: item.block };
    case 'text':
      return { text: item.length };
    case 'call':
      return { call: item.index };
  }
}

function itemOf(value: JsonValue): LayoutItem | undefined {
  if (!isJsonObject(value)) return undefined;
  const { block, text, call } = value;
  if (isJsonObject(block) && typeof block['type'] === 'string') return { kind: 'block', block };
  if (typeof text === 'number') return { kind: 'text', length: text };
  if (typeof call === 'number') return { kind: 'call', index: call };
  return undefined;
}
