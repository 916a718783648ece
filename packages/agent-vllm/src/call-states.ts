import type { ModelEvent } from '@hexagent/agent-core';
import { isJsonObject, type JsonObject, type JsonValue } from '@hexagent/agent-core/adapter';
import type { ServerProfile } from './server-profile.ts';

/**
 * Collects what a server attaches to its tool calls, such as Gemini's signatures: without it the next request of the
 * loop is refused. The state is `{ calls }`, one entry for each call in the order of the turn, null where there is none.
 */
export function callStates(of: {
  readonly provider: string;
  readonly callState: ServerProfile['callState'];
}): {
  /** A piece of a call, and the events it has made. */
  accept(call: JsonObject, events: readonly ModelEvent[]): void;
  finish(sink: ModelEvent[]): void;
} {
  const { provider, callState } = of;
  const found = new Map<number, JsonValue>();
  let started = -1;
  return {
    accept(call, events) {
      if (callState === 'none') return;
      for (const event of events) {
        if (event.type === 'tool-call-start') started = Math.max(started, event.index);
      }
      const state = call[callState];
      if (isJsonObject(state) && started >= 0) found.set(started, state);
    },
    finish(sink) {
      if (found.size === 0) return;
      const calls = Array.from({ length: started + 1 }, (_, index) => found.get(index) ?? null);
      sink.push({ type: 'provider-state', state: { provider, value: { calls } } });
    },
  };
}
