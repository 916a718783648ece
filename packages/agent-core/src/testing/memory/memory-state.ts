import { untilAborted } from '../../base/abort.ts';
import type { Clock, Instant } from '../../base/clock.ts';
import type { CallId, RunId, WaitId } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Call } from '../../durable/call.ts';
import type { StoredEvents, StoredMessage } from '../../durable/commit.ts';
import type { Value } from '../../durable/value-store.ts';
import type { EvidenceRow } from '../../vocabulary/evidence.ts';
import type { Kept } from '../../vocabulary/kept.ts';
import type { Principal, Scope } from '../../vocabulary/scope.ts';
import { isControl, type RunSignal, type SignalKind } from '../../vocabulary/signal.ts';
import { isTerminal, type RunState } from '../../vocabulary/state.ts';
import type { WaitRecord } from '../../vocabulary/wait.ts';

/** What a commit is compared with, and what a claim hands over. */
export type MemoryHead = {
  fence: number;
  version: number;
  owner: string | undefined;
  leaseUntil: Instant;
  deliveries: number;
  commitId: string | undefined;
  lastSeq: number;
  prunedThrough: number;
  openSteps: readonly string[];
  released: boolean;
  /** The timer of the last release. */
  wakeAt: Instant | undefined;
};

/** A run tree: everything that one lease covers. */
export type MemoryRoot = {
  readonly rootRunId: RunId;
  readonly principal: Principal;
  readonly requestKey: string | undefined;
  readonly conversation: MemoryConversation;
  readonly format: number;
  readonly head: MemoryHead;
  readonly runs: Map<RunId, RunState>;
  readonly calls: Map<CallId, Call>;
  readonly waits: Map<WaitId, WaitRecord>;
  readonly evidence: EvidenceRow[];
  messages: StoredMessage[];
  events: StoredEvents[];
  /** Signals are never removed: a signal's number is its place. */
  readonly inbox: {
    closed: boolean;
    readonly signals: { signal: RunSignal; consumed: boolean }[];
    /** Numbers by dedupe key, and those of control signals: an append and a claim look at no other signal. */
    readonly keys: Map<string, number>;
    readonly control: number[];
  };
  /** Absent once the root is pruned down to its evidence. */
  input: Kept<JsonObject> | undefined;
  /** Readers that wait for the log to grow. */
  readonly watchers: Set<() => void>;
};

/** `roots`: those that have not ended, in the order of creation; the first is the open one. */
export type MemoryConversation = {
  readonly userId: string | undefined;
  roots: RunId[];
  turns: RunId[];
};

/** Everything that is stored. */
export type MemoryState = {
  readonly clock: Clock;
  readonly roots: Map<RunId, MemoryRoot>;
  readonly requests: Map<string, RunId>;
  readonly conversations: Map<string, MemoryConversation>;
  readonly values: Map<string, Value>;
  /** Workers that wait for a run that they may claim. */
  readonly workers: Set<() => void>;
};

export function memoryState(clock: Clock): MemoryState {
  return {
    clock,
    roots: new Map(),
    requests: new Map(),
    conversations: new Map(),
    values: new Map(),
    workers: new Set(),
  };
}

/** Tells workers when the root, or the one behind it in its conversation, may be claimed now. */
export function tellWorkers(state: MemoryState, { conversation, rootRunId }: MemoryRoot): void {
  const [open = rootRunId] = conversation.roots;
  const roots = [state.roots.get(rootRunId), state.roots.get(open)];
  const now = state.clock.now();
  if (roots.some((root) => root !== undefined && isClaimable(root, now)))
    for (const wake of state.workers) wake();
}

/** Resolves when one of these is woken. */
export async function woken(sleepers: Set<() => void>, signal: AbortSignal): Promise<void> {
  let wake = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    wake = resolve;
  });
  sleepers.add(wake);
  try {
    await untilAborted(waiting, signal);
  } finally {
    sleepers.delete(wake);
  }
}

/** The place of something that is unique in its tenant. */
export function placeOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

/** The state of the root run itself. */
export function rootRunOf(root: MemoryRoot): RunState {
  const run = root.runs.get(root.rootRunId);
  /* v8 ignore next -- a root is created with its run, and a run is never removed from it */
  if (run === undefined) throw new Error(`The root ${root.rootRunId} has no run.`);
  return run;
}

/** A scope without a user sees the whole tenant. */
export function sees(scope: Scope, owner: Scope): boolean {
  return (
    scope.tenantId === owner.tenantId &&
    (scope.userId === undefined || scope.userId === owner.userId)
  );
}

/** True while nobody else may claim. */
export function isLeased({ head }: MemoryRoot, now: Instant): boolean {
  return head.owner !== undefined && head.leaseUntil > now;
}

/** The claimable set, derived from data: polling it is always correct. */
export function isClaimable(root: MemoryRoot, now: Instant): boolean {
  const { status } = rootRunOf(root);
  if (isTerminal(status) || isLeased(root, now)) return false;
  if (status === 'created') return isFirst(root) || hasControl(root, (kind) => kind === 'cancel');
  return status !== 'interrupted' || hasControl(root, isControl) || isDue(root, now);
}

/** Those before it in its conversation have ended. */
function isFirst({ conversation, rootRunId }: MemoryRoot): boolean {
  return conversation.roots[0] === rootRunId;
}

function hasControl({ inbox }: MemoryRoot, which: (kind: SignalKind) => boolean): boolean {
  return inbox.control.some((seq) => {
    const entry = inbox.signals[seq - 1];
    return entry?.consumed === false && which(entry.signal.kind);
  });
}

function isDue({ head, waits }: MemoryRoot, now: Instant): boolean {
  if (head.wakeAt !== undefined && head.wakeAt <= now) return true;
  for (const { status, expiresAt } of waits.values()) {
    if (status === 'pending' && expiresAt !== undefined && expiresAt <= now) return true;
  }
  return false;
}
