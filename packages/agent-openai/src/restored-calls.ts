import type { ModelEvent } from '@hexagent/agent-core';
import { type JsonValue, parseJson } from '@hexagent/agent-core/adapter';
import { isTooDeep } from './nesting.ts';

/** From a value of a strict schema to one of the original. */
export type Restore = (value: JsonValue) => JsonValue;

/** Lets the events of tool calls through; arguments that have to go the way back wait for their end. */
export interface RestoredCalls {
  accept(event: ModelEvent, sink: ModelEvent[]): void;
  /** Adds the arguments of one call that is complete, if they waited. */
  complete(index: number, sink: ModelEvent[]): void;
  /** Adds the arguments that waited. */
  finish(sink: ModelEvent[]): void;
}

export function restoredCalls(restores: ReadonlyMap<string, Restore>): RestoredCalls {
  const held = new Map<number, { readonly restore: Restore; text: string }>();
  return {
    accept(event, sink) {
      if (event.type === 'tool-call-start') {
        const restore = restores.get(event.name);
        if (restore !== undefined) held.set(event.index, { restore, text: '' });
      }
      const call = event.type === 'tool-call-delta' ? held.get(event.index) : undefined;
      if (call !== undefined && event.type === 'tool-call-delta') call.text += event.delta;
      else sink.push(event);
    },
    complete(index, sink) {
      const call = held.get(index);
      if (call === undefined || parseJson(call.text) === undefined) return;
      held.delete(index);
      sink.push({ type: 'tool-call-delta', index, delta: restoredText(call.text, call.restore) });
    },
    finish(sink) {
      for (const [index, { restore, text }] of held) {
        const delta = restoredText(text, restore);
        if (delta !== '') sink.push({ type: 'tool-call-delta', index, delta });
      }
      held.clear();
    },
  };
}

/** JSON text after the way back; text that does not parse, or is nested too deep to be walked, stays as it is. */
export function restoredText(text: string, restore: Restore): string {
  const value = parseJson(text);
  return value === undefined || isTooDeep(value) ? text : JSON.stringify(restore(value));
}
