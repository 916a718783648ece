import type { ModelEvent } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';

/** Collects OpenRouter's `reasoning_details`, which must go back unchanged within a tool loop. */
export function reasoningDetails(provider: string): {
  accept(value: JsonValue | undefined): void;
  finish(sink: ModelEvent[]): void;
} {
  const details: JsonObject[] = [];
  return {
    accept(value) {
      if (!Array.isArray(value)) return;
      for (const piece of value) {
        if (!isJsonObject(piece)) continue;
        const last = details.at(-1);
        if (last !== undefined && isSame(last, piece))
          details[details.length - 1] = joined(last, piece);
        else details.push(piece);
      }
    },
    finish(sink) {
      if (details.length === 0) return;
      sink.push({ type: 'provider-state', state: { provider, value: details } });
    },
  };
}

/** A streamed detail comes in pieces of one type and index. */
function isSame(last: JsonObject, piece: JsonObject): boolean {
  return last['type'] === piece['type'] && last['index'] === piece['index'];
}

const APPENDED: readonly string[] = ['text', 'summary', 'data'];

function joined(last: JsonObject, piece: JsonObject): JsonObject {
  const whole: Record<string, JsonValue> = { ...last };
  for (const [key, value] of Object.entries(piece)) {
    const before = whole[key];
    whole[key] =
      APPENDED.includes(key) && typeof before === 'string' && typeof value === 'string'
        ? before + value
        : (value ?? before ?? null);
  }
  return whole;
}
