import type { Stop } from '../base/abort.ts';
import type { Instant } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Page } from '../base/page.ts';
import type { EvidenceRow } from '../vocabulary/evidence.ts';
import type { Kept } from '../vocabulary/kept.ts';
import type { Principal, Scope } from '../vocabulary/scope.ts';
import type { RunState } from '../vocabulary/state.ts';
import type { Wait, WaitKind, WaitRecord } from '../vocabulary/wait.ts';
import type { Call } from './call.ts';
import type { StoredMessage } from './commit.ts';

export type RunQuery = {
  readonly scope: Scope;
  readonly agent?: string;
  readonly conversationId?: string;
  readonly status?: RunState['status'];
  readonly after?: string;
  readonly limit: number;
};

export type WaitQuery = {
  readonly scope: Scope;
  readonly runId?: RunId;
  /** Of the runs of this agent. */
  readonly agent?: string;
  readonly kind?: WaitKind;
  readonly status?: Wait['status'];
  readonly after?: string;
  readonly limit: number;
};

/** One row: all that an access check and the check of a quoted cursor need. */
export type RunHead = {
  readonly run: RunState;
  readonly principal: Principal;
  readonly format: number;
  /** Of the newest owner: a cursor with a larger one was never given out. */
  readonly fence: number;
  /** The last number of the log. */
  readonly lastSeq: number;
  /** Events up to this number are gone; 0 when none are. */
  readonly prunedThrough: number;
};

/** All that a new owner goes on from. */
export type RunTree = {
  readonly runs: readonly RunState[];
  readonly principal: Principal;
  readonly input: Kept<JsonObject>;
  readonly calls: readonly Call[];
  readonly waits: readonly WaitRecord[];
  readonly messages: readonly StoredMessage[];
  readonly lastEvidence?: EvidenceRow;
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  /** Claims since the last progress. */
  readonly deliveries: number;
  readonly format: number;
};

/** Read views over the store. A scope without a user sees the whole tenant. */
export interface RunRecords {
  head(rootRunId: RunId, stop: Stop): Promise<RunHead | undefined>;
  /** Consistent for one root. */
  load(rootRunId: RunId, stop: Stop): Promise<RunTree | undefined>;
  /** Sorted by last status time, newest first. May lag. */
  runs(query: RunQuery & Stop): Promise<Page<RunState>>;
  /** Sorted by opening time, oldest first. May lag. */
  waits(query: WaitQuery & Stop): Promise<Page<Wait>>;
  evidence(
    rootRunId: RunId,
    query: {
      readonly after: number;
      readonly limit: number;
      readonly manifestRef?: string;
    } & Stop,
  ): Promise<readonly EvidenceRow[]>;
  /** Blanks payload and salt of evidence rows; answers how many. */
  erase(rootRunId: RunId, evidenceSeqs: readonly number[], stop: Stop): Promise<number>;
  /** Removes ended roots; answers how many. */
  prune(
    query: {
      readonly endedBefore: Instant;
      readonly keep: 'nothing' | 'evidence';
      readonly scope?: Scope;
    } & Stop,
  ): Promise<number>;
}
