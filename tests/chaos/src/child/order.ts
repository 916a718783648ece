import type { RunId, SignalKind, WaitResolution } from '@hexagent/agent-core';

/** What can be known of a tool's effect when nobody answered: one column of the matrix each. */
export const TOOL_KINDS = ['idempotent', 'reconcilable', 'non-idempotent', 'read-only'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * What happens to a process when it comes to a point for the nth time (default: the first): it is killed; it is
 * frozen, until somebody thaws it; or it waits there until it is told to go on.
 */
export type Stop = {
  readonly at: string;
  readonly nth?: number;
  readonly how: 'kill' | 'freeze' | 'hold';
};

/** Rules that a process breaks on purpose, and faults of its surroundings. */
export const FAULTS = [
  /** Every commit's first answer is lost; every other one was not even applied. */
  'answers-lost',
  /** The store does not say that there is a newer owner. */
  'fences-ignored',
  /** The receiver applies whatever it gets, whatever the tool says of itself. */
  'key-ignored',
  /** The tool says of every effect in doubt that it did not happen. */
  'probe-lies',
  /** The store forgets that an answer has been used. */
  'use-forgotten',
  /** The store alters what it keeps as evidence. */
  'evidence-altered',
  /** The reader asks for everything again, whatever it has seen. */
  'cursor-forgotten',
  /** The run ends twice in its log. */
  'ended-twice',
] as const;
export type Fault = (typeof FAULTS)[number];

/** What one process is to do; given as JSON, its first argument. */
export type Order = {
  readonly url: string;
  /** Where the receiver keeps its rows, and the reader what it has seen. */
  readonly folder: string;
  /** A name for each case: what other cases left behind in the same database is not claimed. */
  readonly agent: string;
  readonly tool: ToolKind;
  readonly task: Task;
  /** Who reads: what it has seen is kept under this name. Default `reader`. */
  readonly reader?: string;
  /** The tool's calls are approved by a person. Default true. */
  readonly asks?: boolean;
  /** What the model and the agent do beside the two calls. */
  readonly script?: 'plain' | 'slow-stream' | 're-ask' | 'cleanups' | 'late-effect';
  readonly stops?: readonly Stop[];
  readonly faults?: readonly Fault[];
  readonly leaseMs?: number;
  /** How far this process's wall clock is from the true time, from the moment it has started the run. */
  readonly clockShiftMs?: number;
  /** How long a question stays open. */
  readonly approvalTtlMs?: number;
};

/** What a process is for. */
export type Task =
  /** Starts the run, works, answers questions as a person would, reads; until the run is over. */
  | { readonly kind: 'see-through' }
  /** The same without answering questions; ends when the run rests. */
  | { readonly kind: 'work' }
  /** Answers the open question of the run, as an outsider that has no agents. */
  | { readonly kind: 'decide'; readonly runId: RunId; readonly answer: WaitResolution }
  | {
      readonly kind: 'signal';
      readonly runId: RunId;
      readonly signal: SignalKind;
      readonly text: string;
    };

/** What a process says, one JSON object a line. */
export type Said =
  | { readonly at: string }
  | { readonly started: RunId }
  /** What came of the one thing that an outsider does: `ok`, or the code of an error. */
  | { readonly answered: string }
  | { readonly asked: string; readonly about: string }
  | { readonly superseded: string }
  | { readonly ended: string };

/** Two steps, so that there is one before and one after whatever happens in between. */
export const ENTRIES: readonly string[] = ['12 euros', '7 euros'];
