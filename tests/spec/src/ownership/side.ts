import type { RunStatus, SignalKind, WaitStatus } from '@hexagent/agent-core';
import type { CommitPlan, Who } from './operation.ts';

/** A claim that was granted, as both sides tell it. */
export type Grant = {
  readonly fence: number;
  readonly version: number;
  readonly deliveries: number;
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  readonly released: boolean;
};

/** One commit in full: what it names exists, and its numbers are new. */
export type PlannedCommit = Omit<CommitPlan, 'opens' | 'moves' | 'unseen' | 'consumes'> & {
  readonly id: string;
  readonly lease: Grant;
  readonly lastSeen: number;
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  /** Numbers of signals, from 1. */
  readonly consume: readonly number[];
  readonly opens: readonly { readonly call: number; readonly n: number; readonly timed: boolean }[];
  readonly moves: readonly {
    readonly row: number;
    readonly question: string;
    readonly from: readonly WaitStatus[];
    readonly to: WaitStatus;
  }[];
};

/** What is stored, as far as the model knows it. */
export type Standing = {
  readonly status: RunStatus;
  readonly fence: number;
  readonly lastSeq: number;
  readonly openSteps: readonly string[];
  readonly unread: readonly string[];
  readonly waits: readonly string[];
};

/** The model or a store: the same questions, the same form of answer. */
export interface Side {
  create(claimedBy: Who | undefined): Promise<Grant | undefined>;
  claim(who: Who): Promise<Grant | undefined>;
  append(signal: SignalKind, key: string): Promise<string>;
  resolve(wait: { readonly id: string; readonly digest: string }): Promise<string>;
  commit(commit: PlannedCommit): Promise<string>;
  /** Whether the lease is lost. */
  heartbeat(who: Who, lease: Grant): Promise<boolean>;
  timePasses(ms: number): Promise<void>;
  standing(): Promise<Standing>;
}

export const questionOf = (call: number, n: number): string => `${call}.w${n}`;
export const digestOf = (call: number): string => `digest of ${call}`;
