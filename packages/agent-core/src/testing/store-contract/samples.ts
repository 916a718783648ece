import type { Instant } from '../../base/clock.ts';
import {
  type CallId,
  callIdOf,
  type RunId,
  runIdOf,
  type WaitId,
  waitIdOf,
} from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Call } from '../../durable/call.ts';
import type { Commit, StoredEvents, StoredMessage, WaitOpening } from '../../durable/commit.ts';
import { sequenceOf } from '../../events/envelope.ts';
import type { EvidenceRow } from '../../vocabulary/evidence.ts';
import type { RunState, RunStatus, RunTransition } from '../../vocabulary/state.ts';

/** An instant long ago: the order of what the rules write, and never the store's clock. */
export const LONG_AGO = 1_000_000;

export function runState(
  part: Pick<RunState, 'runId' | 'agent' | 'conversationId'> & Partial<RunState>,
): RunState {
  return {
    rootRunId: part.runId,
    fingerprint: 'fingerprint',
    status: 'created',
    transition: 'pending',
    metadata: {},
    counters: {},
    shared: {},
    createdAt: LONG_AGO,
    statusAt: LONG_AGO,
    ...part,
  };
}

const TRANSITIONS: Readonly<Record<RunStatus, RunTransition>> = {
  created: 'pending',
  active: 'running',
  interrupted: 'interrupted',
  cancelling: 'cancelling',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** The run in another status. */
export function inStatus(
  run: RunState,
  status: RunStatus,
  statusAt: Instant = run.statusAt,
): RunState {
  return { ...run, status, transition: TRANSITIONS[status], statusAt };
}

/** A commit that pauses the run and gives it back. */
export function pausing(run: RunState, lastSeenSeq = 0): Partial<Commit> {
  return { runs: [inStatus(run, 'interrupted')], release: { lastSeenSeq } };
}

/** A commit that ends the run. */
export function ending(
  run: RunState,
  options: {
    readonly status?: 'completed' | 'failed' | 'cancelled';
    readonly lastSeenSeq?: number;
    readonly at?: number;
  } = {},
): Partial<Commit> {
  const { status = 'completed', lastSeenSeq = 0, at } = options;
  return {
    progress: true,
    runs: [inStatus(run, status, at)],
    voidWaits: true,
    closeInbox: status === 'completed' ? { lastSeenSeq } : 'anyway',
  };
}

/** An end after which the run is a turn of its conversation. */
export function settling(run: RunState): Partial<Commit> {
  const { conversationId, runId } = run;
  return { ...ending(run), settleTurn: { conversationId, runId } };
}

export function message(runId: RunId, seq: number, text: string): StoredMessage {
  return {
    runId,
    seq,
    message: { plain: { role: 'user', parts: [{ type: 'text', text }], origin: 'user' } },
  };
}

/** The n-th event of an owner. */
export function eventRow(
  { runId, agent }: RunState,
  n: number,
  options: { readonly fence?: number } = {},
): StoredEvents {
  const seq = sequenceOf(options.fence ?? 1, n);
  const event = { type: 'progress', message: `event ${n}` } as const;
  return { runId, agent, firstSeq: seq, lastSeq: seq, at: LONG_AGO + n, event };
}

/** Consecutive numbers of one text. */
export function textRow(run: RunState, first: number, pieces: readonly string[]): StoredEvents {
  const { runId, agent } = run;
  let length = 0;
  const ends = pieces.map((piece) => {
    length += piece.length;
    return length;
  });
  return {
    runId,
    agent,
    stepId: `${runId}.s1`,
    firstSeq: sequenceOf(1, first),
    lastSeq: sequenceOf(1, first + pieces.length - 1),
    at: LONG_AGO,
    event: { type: 'message-delta', messageId: `${runId}.m1`, delta: pieces.join('') },
    ends,
  };
}

export function evidenceRow(runId: RunId, seq: number, payload: JsonObject = { seq }): EvidenceRow {
  return {
    seq,
    runId,
    kind: 'model',
    at: LONG_AGO + seq,
    payload,
    salt: `salt ${seq}`,
    payloadDigest: `payload digest ${seq}`,
    previousHash: `hash ${seq - 1}`,
    hash: `hash ${seq}`,
  };
}

export function callOf(run: RunState, index: number, part: Partial<Call> = {}): Call {
  return {
    callId: callIdFor(run, index),
    runId: run.runId,
    step: 1,
    toolName: 'payments.charge',
    stage: 'proposed',
    input: { plain: { cents: 100 } },
    inputDigest: 'input digest',
    idempotencyKey: 'idempotency key',
    resume: 'ask',
    attempt: 0,
    ...part,
  };
}

export function callIdFor({ runId }: RunState, index: number): CallId {
  return callIdOf(`${runId}.1.${index}`);
}

export function waitIdFor(run: RunState, n: number): WaitId {
  return waitIdOf(`${callIdFor(run, 0)}.w${n}`);
}

/** The n-th question of a run's first call. */
export function question(run: RunState, n: number, part: Partial<WaitOpening> = {}): WaitOpening {
  return {
    id: waitIdFor(run, n),
    runId: run.runId,
    rootRunId: run.rootRunId,
    callId: callIdFor(run, 0),
    kind: 'approval',
    status: 'pending',
    digest: `digest ${n}`,
    prompt: { arguments: { cents: 100 } },
    allowed: ['approve', 'reject', 'modify'],
    openedAt: LONG_AGO + n,
    onExpiry: 'reject',
    ...part,
  };
}

/** A child run in the tree of its root. */
export function childOf(root: RunState, part: Partial<RunState> = {}): RunState {
  return runState({
    runId: runIdOf(`${root.runId}.1.0`),
    rootRunId: root.runId,
    parentRunId: root.runId,
    agent: root.agent,
    conversationId: root.conversationId,
    ...part,
  });
}
