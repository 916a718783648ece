import type { JsonObject, JsonValue } from '../base/json.ts';

/** What a tool can wait for. `carry` is kept for `resume`, sealed when a sealer is bound. */
export type WaitFor =
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly timeoutMs?: number;
      readonly carry?: JsonValue;
    }
  /** `at`: an ISO 8601 instant. */
  | { readonly kind: 'timer'; readonly at: string; readonly carry?: JsonValue }
  | {
      readonly kind: 'auth';
      readonly url: string;
      readonly message: string;
      readonly carry?: JsonValue;
    }
  | {
      readonly kind: 'input';
      readonly message: string;
      readonly schema: JsonObject;
      readonly carry?: JsonValue;
    };

const suspended = Symbol.for('@hexagent/agent-core/suspended');

/** What `suspend` answers; a tool returns it and nothing else. */
export interface Suspended {
  readonly [key: symbol]: true;
  readonly wait: WaitFor;
}

/** Pauses the call: `return suspend({ kind: 'event', name: 'paid' })`. It goes on in the tool's `resume`. */
export function suspend(wait: WaitFor): Suspended {
  return { [suspended]: true, wait };
}

export function isSuspended(value: unknown): value is Suspended {
  return typeof value === 'object' && value !== null && suspended in value;
}
