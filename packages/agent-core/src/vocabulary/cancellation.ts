export const CLEANUP_TARGETS = ['model-stream', 'tool-execution', 'delegate-execution'] as const;

/** What a cleanup puts in order. `targetRef` of a tool execution is its call's id. */
export type CleanupTarget = {
  readonly target: (typeof CLEANUP_TARGETS)[number];
  readonly targetRef: string;
};

export type CleanupOutcome = CleanupTarget & {
  readonly status: 'succeeded' | 'failed' | 'skipped';
  readonly message?: string;
};

/** A cancellation as the row of its run keeps it: who owns the run by then goes on from here. */
export type Cancellation = {
  readonly reason?: string;
  readonly requestedBy?: string;
  /** Of the inbox, when it was asked for there. */
  readonly signalSeq?: number;
  /** What came of the cleanups that have ended, in order. */
  readonly outcomes: readonly CleanupOutcome[];
  /** The cleanups that have not: each is run at least once. */
  readonly remaining: readonly CleanupTarget[];
};
