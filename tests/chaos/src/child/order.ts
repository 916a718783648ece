import type { JsonObject, RunId, SignalKind, WaitResolution } from '@hexagent/agent-core';

/** What can be known of a tool's effect when nobody answered: one column of the matrix each. */
export const TOOL_KINDS = ['idempotent', 'reconcilable', 'non-idempotent', 'read-only'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/**
 * What happens to a process when it comes to a point, the first time: it is killed; it is frozen, until somebody
 * thaws it; or it waits there until it is told to go on.
 */
export type Stop = {
  readonly at: string;
  /** Only in this step of the run, from 1. */
  readonly step?: number;
  readonly how: 'kill' | 'freeze' | 'hold';
};

/** Rules that a process breaks on purpose, and faults of its surroundings. */
export const FAULTS = [
  /** Every commit is sent twice: the first answer is lost, or (`commits-lost`) the commit was. */
  'answers-lost',
  'commits-lost',
  /** The store does not say that there is a newer owner, and the owner's clock does not say that it was away. */
  'fences-ignored',
  /** The receiver applies whatever it gets, whatever the tool says of itself. */
  'key-ignored',
  /** The tool says of every effect in doubt that it did not happen. */
  'probe-lies',
  /** The store forgets that an answer has been used. */
  'use-forgotten',
  /** The store alters what it keeps as evidence. */
  'evidence-altered',
  /** The disk is full from the second effect on, for two seconds. SQLite only. */
  'disk-full',
  /** The wall clock is an hour behind: from the first effect on, or (`was-set-back`) from the start of the process. */
  'clock-set-back',
  'clock-was-set-back',
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
  readonly script?: Script;
  readonly stops?: readonly Stop[];
  readonly faults?: readonly Fault[];
  /** Default 1,500. */
  readonly leaseMs?: number;
  /** The run waits for its turn in this conversation. Default: a conversation of its own. */
  readonly conversationId?: string;
  /** How long an approval may take. */
  readonly expiresInMs?: number;
};

/** What is other than two calls, one a step, and an answer. */
export type Script =
  | 'plain'
  /** Deltas come slowly, and are stored while they come. */
  | 'slow-stream'
  /** The answer has a form, and the first one does not fit it. */
  | 're-ask'
  /** Both calls are of one answer. */
  | 'batch'
  /** A call takes longer than it may, when its effect is done. */
  | 'late-effect'
  /** Both calls are of one answer, run side by side, and do not end when their effects are done: only a cancellation ends them. */
  | 'cleanups'
  /** A result is so large that it needs room on the disk. */
  | 'large-result';

/** What a process is for. */
export type Task =
  /** Starts the run, works, answers questions as a person would, reads; until the run is over. */
  | { readonly kind: 'see-through' }
  /** The same without answering questions and reading; ends when the run rests. */
  | { readonly kind: 'work' }
  /** Reads, from a process that has no agents, until the run is over. */
  | { readonly kind: 'read'; readonly runId: RunId }
  /** Answers the open question of the run, as an outsider that has no agents. */
  | {
      readonly kind: 'decide';
      readonly runId: RunId;
      readonly answer: WaitResolution;
      /** Which of the open questions. */
      readonly index: number;
    }
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
  /** The store did not do something: it is tried again. */
  | { readonly refused: string }
  | { readonly ended: string };

/** What the tool answers. */
export function resultOf(entry: string, script: Script = 'plain'): JsonObject {
  return { written: entry, ...(script === 'large-result' ? { receipt: '#'.repeat(40_000) } : {}) };
}

/** What the run is asked for. */
export const REQUEST = 'Write 12 euros, then 7 euros.';

/** Two steps, so that there is one before and one after whatever happens in between. */
export const ENTRIES: readonly string[] = ['12 euros', '7 euros'];
