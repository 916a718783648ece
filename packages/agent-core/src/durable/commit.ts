import type { Instant } from '../base/clock.ts';
import type { RunId, WaitId } from '../base/ids.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { Message } from '../vocabulary/message.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Wait, WaitRecord } from '../vocabulary/wait.ts';
import type { Call } from './call.ts';
import type { ValueWrite } from './value-store.ts';

/**
 * Events as they are stored: consecutive numbers of one text. `ends` holds the cumulative lengths of
 * the text in UTF-16 units, one a number; without it the row is one event.
 */
export type StoredEvents = {
  readonly runId: RunId;
  readonly agent: string;
  readonly stepId?: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly at: Instant;
  readonly event: AgentEvent;
  readonly ends?: readonly number[];
};

/** A message of a run. `replaces`: a digest that stands for the messages of that range. */
export type StoredMessage = {
  readonly runId: RunId;
  /** From 1 in each run. */
  readonly seq: number;
  readonly message: Kept<Message>;
  readonly replaces?: readonly [from: number, to: number];
};

/** The right to write a run tree. `deliveries`: claims since the last progress. */
export type Lease = {
  readonly rootRunId: RunId;
  readonly owner: string;
  readonly fence: number;
  readonly version: number;
  readonly ttlMs: number;
  readonly deliveries: number;
  /** When it was claimed, by the store's clock; absent: the owner goes by its own. */
  readonly claimedAt?: Instant;
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  /** True when the owner before gave the run back. */
  readonly released: boolean;
};

/** What a run can write from its first commit on. */
export type Written = {
  readonly messages?: readonly StoredMessage[];
  readonly evidence?: readonly EvidenceRow[];
  readonly events?: readonly StoredEvents[];
};

export type WaitOpening = Omit<WaitRecord, 'expiresAt'> & { readonly ttlMs?: number };

/** A compare-and-swap on a wait: one that does not match answers `inbox-moved`. */
export type WaitMove = {
  readonly id: WaitId;
  readonly from: readonly Wait['status'][];
  readonly to: Wait['status'];
};

/** Everything that becomes true together. All of it or none of it. */
export type Commit = Written & {
  readonly commitId: string;
  /** A model answer, a tool's own result, a consumed control signal: resets `deliveries`. */
  readonly progress: boolean;
  /** The poison question is opened: resets `deliveries` although nothing is known. */
  readonly poison?: true;
  /** Of the log, after this commit. */
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  readonly runs: readonly RunState[];
  readonly calls?: readonly Call[];
  readonly opens?: readonly WaitOpening[];
  readonly moves?: readonly WaitMove[];
  /** In every end: pending, and resolved but not used, become void. */
  readonly voidWaits?: true;
  readonly values?: readonly ValueWrite[];
  /** Numbers of inbox signals. */
  readonly consume?: readonly number[];
  /** `anyway`: failed or cancelled. */
  readonly closeInbox?: { readonly lastSeenSeq: number } | 'anyway';
  readonly settleTurn?: { readonly conversationId: string; readonly runId: RunId };
  readonly release?: { readonly lastSeenSeq: number; readonly wakeInMs?: number };
};

export type CommitResult =
  | { readonly kind: 'committed'; readonly version: number }
  | { readonly kind: 'superseded' }
  | { readonly kind: 'inbox-moved' }
  | { readonly kind: 'value-conflict'; readonly key: string };
