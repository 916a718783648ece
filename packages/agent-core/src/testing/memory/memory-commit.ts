import { storeFailed } from '../../base/error-catalog.ts';
import type { Commit, CommitResult, Lease, WaitOpening, Written } from '../../durable/commit.ts';
import { isTerminal } from '../../vocabulary/state.ts';
import type { WaitRecord } from '../../vocabulary/wait.ts';
import { frozenCopy } from './frozen-copy.ts';
import {
  type MemoryRoot,
  type MemoryState,
  placeOf,
  rootRunOf,
  tellWorkers,
} from './memory-state.ts';
import { valueConflict, writeValue } from './memory-values.ts';

/** One commit: everything is compared and checked before anything is written. */
export function applyCommit(state: MemoryState, lease: Lease, sent: Commit): CommitResult {
  const root = state.roots.get(lease.rootRunId);
  if (root === undefined || root.head.fence !== lease.fence) return { kind: 'superseded' };
  const { head } = root;
  if (head.commitId === sent.commitId) return { kind: 'committed', version: head.version };
  if (head.owner !== lease.owner || head.version !== lease.version) return { kind: 'superseded' };
  if (hasMoved(root, sent)) return { kind: 'inbox-moved' };
  const conflict = sent.values?.find((write) => valueConflict(state, write));
  if (conflict !== undefined) return { kind: 'value-conflict', key: conflict.key };
  const commit = frozenCopy(sent);
  checkRows(root, commit);
  checkInboxAndWaits(root, commit);

  writeRows(root, commit);
  for (const run of commit.runs) root.runs.set(run.runId, run);
  for (const call of commit.calls ?? []) root.calls.set(call.callId, call);
  writeWaits(state, root, commit);
  for (const write of commit.values ?? []) writeValue(state, write);
  for (const seq of commit.consume ?? []) signalAt(root, seq).consumed = true;
  if (commit.closeInbox !== undefined) root.inbox.closed = true;
  if (commit.settleTurn !== undefined) settleTurn(state, root, commit.settleTurn);
  moveHead(state, root, commit);
  for (const wake of root.watchers) wake();
  tellWorkers(state, root);
  return { kind: 'committed', version: head.version };
}

/** Has an outsider written something that this commit must have seen? */
function hasMoved({ inbox, waits }: MemoryRoot, commit: Commit): boolean {
  const newest = inbox.signals.length;
  const { release, closeInbox } = commit;
  if (release !== undefined && newest > release.lastSeenSeq) return true;
  if (typeof closeInbox === 'object' && newest > closeInbox.lastSeenSeq) return true;
  return (commit.moves ?? []).some(({ id, from }) => {
    const wait = waits.get(id);
    return wait === undefined || !from.includes(wait.status);
  });
}

/** Throws when a number would be written twice: the log, the evidence and a run's messages only grow. */
export function checkRows(root: MemoryRoot, { events, evidence, messages }: Written): void {
  let lastSeq = root.events.at(-1)?.lastSeq ?? 0;
  for (const { firstSeq, lastSeq: last } of events ?? []) {
    if (firstSeq <= lastSeq) throw written(root, `event ${firstSeq}`);
    lastSeq = last;
  }
  let lastEvidence = root.evidence.at(-1)?.seq ?? 0;
  for (const { seq } of evidence ?? []) {
    if (seq <= lastEvidence) throw written(root, `evidence row ${seq}`);
    lastEvidence = seq;
  }
  const sent = new Set(messages?.map(({ seq }) => seq));
  const places = new Set<string>();
  for (const { runId, seq } of [...root.messages, ...(messages ?? [])]) {
    if (!sent.has(seq)) continue;
    const place = placeOf(runId, `${seq}`);
    if (places.has(place)) throw written(root, `message ${seq} of run ${runId}`);
    places.add(place);
  }
}

function checkInboxAndWaits(root: MemoryRoot, { consume, opens }: Commit): void {
  const consumed = new Set<number>();
  for (const seq of consume ?? []) {
    if (signalAt(root, seq).consumed || consumed.has(seq)) {
      throw storeFailed(`a commit of ${root.rootRunId}`, `signal ${seq} was consumed before`);
    }
    consumed.add(seq);
  }
  const opened = new Set<string>();
  for (const { id } of opens ?? []) {
    if (root.waits.has(id) || opened.has(id)) throw written(root, `wait ${id}`);
    opened.add(id);
  }
}

function written({ rootRunId }: MemoryRoot, what: string): Error {
  return storeFailed(`a commit of ${rootRunId}`, `${what} was written before`);
}

function signalAt(root: MemoryRoot, seq: number): { consumed: boolean } {
  const found = root.inbox.signals[seq - 1];
  if (found === undefined) {
    throw storeFailed(`a commit of ${root.rootRunId}`, `there is no signal ${seq} to consume`);
  }
  return found;
}

/** Rows that are only ever added. */
export function writeRows(root: MemoryRoot, { events, evidence, messages }: Written): void {
  root.events.push(...(events ?? []));
  root.evidence.push(...(evidence ?? []));
  root.messages.push(...(messages ?? []));
}

function writeWaits(state: MemoryState, { waits }: MemoryRoot, commit: Commit): void {
  const move = (wait: WaitRecord, status: WaitRecord['status']): void => {
    waits.set(wait.id, Object.freeze({ ...wait, status }));
  };
  const targets = new Map(commit.moves?.map(({ id, to }) => [id, to]));
  for (const wait of [...waits.values()]) {
    const to = targets.get(wait.id);
    if (to !== undefined) move(wait, to);
  }
  for (const opening of commit.opens ?? []) waits.set(opening.id, opened(opening, state));
  if (commit.voidWaits === undefined) return;
  for (const wait of [...waits.values()]) {
    if (wait.status === 'pending' || wait.status === 'resolved') move(wait, 'void');
  }
}

function opened({ ttlMs, ...wait }: WaitOpening, { clock }: MemoryState): WaitRecord {
  return Object.freeze(ttlMs === undefined ? wait : { ...wait, expiresAt: clock.now() + ttlMs });
}

function settleTurn(
  state: MemoryState,
  { principal }: MemoryRoot,
  turn: NonNullable<Commit['settleTurn']>,
): void {
  const place = placeOf(principal.scope.tenantId, turn.conversationId);
  state.conversations.get(place)?.turns.push(turn.runId);
}

function moveHead(state: MemoryState, root: MemoryRoot, commit: Commit): void {
  const { head, conversation } = root;
  const { release } = commit;
  head.version += 1;
  head.commitId = commit.commitId;
  head.lastSeq = commit.lastSeq;
  head.openSteps = commit.openSteps;
  if (commit.progress || commit.poison) head.deliveries = 0;
  else if (release !== undefined) head.deliveries = Math.max(0, head.deliveries - 1);
  const ended = isTerminal(rootRunOf(root).status);
  if (ended) conversation.roots = conversation.roots.filter((id) => id !== root.rootRunId);
  if (release !== undefined) {
    const { wakeInMs } = release;
    head.wakeAt = wakeInMs === undefined ? undefined : state.clock.now() + wakeInMs;
  }
  if (release === undefined && !ended) return;
  head.owner = undefined;
  head.released = true;
}
