import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { AgentEvent } from './agent-event.ts';

/** An event with its address and its number. */
export type Envelope = {
  readonly rootRunId: RunId;
  readonly runId: RunId;
  readonly agent: string;
  /** The step that a live event belongs to. */
  readonly stepId?: string;
  /** `fence · 2^32 + n`; gaps are normal, a number never means two events. */
  readonly seq: number;
  readonly at: Instant;
  readonly event: AgentEvent;
};

/** How many numbers one owner of a run tree has. */
export const SEQUENCE_SPAN: number = 2 ** 32;

/** The number of an owner's n-th event. */
export function sequenceOf(fence: number, n: number): number {
  return fence * SEQUENCE_SPAN + n;
}

/** Which owner gave a number. */
export function fenceOf(seq: number): number {
  return Math.floor(seq / SEQUENCE_SPAN);
}
