import type { JsonObject } from '../base/json.ts';
import type { Cost } from '../vocabulary/cost.ts';
import type { Usage } from '../vocabulary/usage.ts';

/** What a run counts; stored on its row with every commit. */
export type Counters = {
  /** Model answers. */
  steps: number;
  toolCalls: number;
  usage: Usage;
  /** What the calls with a known price have cost together; absent before the first. */
  cost?: Cost;
  /** Calls whose price nobody knows; absent where there is none, or where nobody asks for prices. */
  unpriced?: number;
  /** Milliseconds of work; waiting is free. */
  activeMs: number;
  /** Rows of evidence. */
  evidence: number;
  /** Messages of this run, the first one included. */
  messages: number;
  /** The last number given to a step. */
  stepIds: number;
  /** The last inbox signal that was read. */
  signals: number;
  /** The number of the last model call whose `before` row is on record; above `steps` while the call is not answered. */
  announced: number;
  /** Answers that did not fit the declared output, in a row. */
  outputRetries: number;
  /** Answers in a row that their provider has paused; absent before the first. */
  continued?: number;
  /** Events that have come before their wait was opened, and are kept for it. */
  earlyEvents: number;
};

export function newCounters(): Counters {
  return {
    steps: 0,
    toolCalls: 0,
    usage: {},
    activeMs: 0,
    evidence: 0,
    messages: 0,
    stepIds: 0,
    signals: 0,
    announced: 0,
    outputRetries: 0,
    earlyEvents: 0,
  };
}

/** The counters of a stored run; what an older row does not have counts from its start. */
export function countersOf(stored: JsonObject): Counters {
  return { ...newCounters(), ...(stored as Partial<Counters>) };
}
