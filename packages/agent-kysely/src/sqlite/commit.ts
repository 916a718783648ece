import {
  type Commit,
  type CommitResult,
  isTerminal,
  type Lease,
  type RunId,
  type RunState,
} from '@hexagent/agent-core';
import { lastSeen, notUnread, writtenBefore } from '../commit-rules.ts';
import { questionText } from '../records.ts';
import type { InboxRow, RunRow, WaitRow } from '../tables.ts';
import type { SqliteParts } from './parts.ts';
import { conflictOf, writeValue } from './values.ts';
import { insertWritten } from './written.ts';

/** One commit, inside a transaction: everything is compared first; what throws later undoes all of it. */
export function applyCommit(parts: SqliteParts, lease: Lease, commit: Commit): CommitResult {
  const { connection, statements } = parts;
  const root = lease.rootRunId;
  const head = connection.one<RunRow>(statements.headForCommit, [root]);
  if (head === undefined || head.fence !== lease.fence) return { kind: 'superseded' };
  if (head.last_commit_id === commit.commitId) return { kind: 'committed', version: head.version };
  if (head.owner !== lease.owner || head.version !== lease.version) return { kind: 'superseded' };
  if (hasMoved(parts, root, commit)) return { kind: 'inbox-moved' };
  for (const write of commit.values ?? []) {
    if (conflictOf(parts, write) !== undefined) return { kind: 'value-conflict', key: write.key };
  }

  insertWritten(parts, root, commit);
  const ended = writeRuns(parts, head, { lease, commit });
  writeCalls(parts, root, commit);
  writeWaits(parts, head, { root, commit });
  for (const write of commit.values ?? []) writeValue(parts, write);
  consume(parts, root, commit);
  if (commit.closeInbox !== undefined) {
    connection.run(statements.closeInbox, [root]);
    connection.run(statements.calmSignals, [root]);
  }
  if (ended) leaveConversation(parts, head, root);
  if (commit.settleTurn !== undefined) settleTurn(parts, head, { root, turn: commit.settleTurn });
  return { kind: 'committed', version: head.version + 1 };
}

/** Has an outsider written something that this commit must have seen? */
function hasMoved(parts: SqliteParts, root: RunId, commit: Commit): boolean {
  const { connection, statements } = parts;
  const seen = lastSeen(commit);
  if (seen !== undefined) {
    const inbox = connection.one<InboxRow>(statements.inbox, [root]);
    if ((inbox?.next ?? 1) - 1 > seen) return true;
  }
  return (commit.moves ?? []).some(({ id, from }) => {
    const wait = connection.one<WaitRow>(statements.waitById, [root, id]);
    return !from.some((status) => status === wait?.status);
  });
}

/** Answers whether the tree has ended. */
function writeRuns(
  { connection, statements, now }: SqliteParts,
  head: RunRow,
  { lease, commit }: { readonly lease: Lease; readonly commit: Commit },
): boolean {
  const root = lease.rootRunId;
  let own: RunState | undefined;
  for (const run of commit.runs) {
    if (run.runId === root) own = run;
    else connection.run(statements.upsertChild, childRow(run, head, root));
  }
  const ended = own !== undefined && isTerminal(own.status);
  const leaves = ended || commit.release !== undefined;
  const { wakeInMs } = commit.release ?? {};
  const released = wakeInMs === undefined ? null : now() + wakeInMs;
  const fields = [
    commit.commitId,
    commit.lastSeq,
    JSON.stringify(commit.openSteps),
    deliveriesAfter(head.deliveries, commit),
    leaves ? null : head.owner,
    leaves ? null : head.lease_until,
    leaves ? 1 : 0,
    commit.release === undefined ? head.wake_at : released,
    root,
  ];
  if (own === undefined) connection.run(statements.moveHeadOnly, fields);
  else {
    const state = [own.agent, own.status, own.statusAt, JSON.stringify(own)];
    connection.run(statements.moveHead, [...state, ...fields]);
  }
  return ended;
}

/** A child has no head: its row says what it is and how it stands. */
function childRow(run: RunState, head: RunRow, root: RunId): readonly (string | number | null)[] {
  const { tenant, user_id, format } = head;
  const scope = [run.runId, root, tenant, user_id, run.conversationId];
  const state = [run.agent, run.status, run.statusAt, JSON.stringify(run)];
  return [...scope, ...state, null, null, null, format, 0, 0, null, null, 0, 0, '[]', 0, 0];
}

function deliveriesAfter(deliveries: number, commit: Commit): number {
  if (commit.progress || commit.poison) return 0;
  return commit.release === undefined ? deliveries : Math.max(0, deliveries - 1);
}

function writeCalls({ connection, statements }: SqliteParts, root: RunId, commit: Commit): void {
  for (const call of commit.calls ?? []) {
    const text = JSON.stringify(call);
    connection.run(statements.upsertCall, [
      call.callId,
      root,
      call.runId,
      call.step,
      call.stage,
      text,
    ]);
  }
}

function writeWaits(
  { connection, statements, now }: SqliteParts,
  { tenant, user_id }: RunRow,
  { root, commit }: { readonly root: RunId; readonly commit: Commit },
): void {
  for (const { id, to } of commit.moves ?? []) connection.run(statements.moveWait, [to, root, id]);
  for (const wait of commit.opens ?? []) {
    if (connection.one(statements.waitById, [root, wait.id]) !== undefined) {
      throw writtenBefore(root, `wait ${wait.id}`);
    }
    connection.run(statements.insertWait, [
      wait.id,
      root,
      wait.runId,
      tenant,
      user_id,
      wait.kind,
      wait.status,
      wait.digest,
      wait.openedAt,
      wait.ttlMs === undefined ? null : now() + wait.ttlMs,
      questionText(wait),
      wait.decision ?? null,
      wait.resolvedBy ?? null,
      wait.resolution === undefined ? null : JSON.stringify(wait.resolution),
    ]);
  }
  if (commit.voidWaits !== undefined) connection.run(statements.voidWaits, [root]);
}

function consume({ connection, statements, now }: SqliteParts, root: RunId, commit: Commit): void {
  for (const seq of commit.consume ?? []) {
    if (connection.run(statements.consumeSignal, [now(), root, seq]) === 1) continue;
    throw notUnread(root, [seq]);
  }
}

/** The next run of the conversation may start. */
function leaveConversation(
  { connection, statements }: SqliteParts,
  { tenant, conversation }: RunRow,
  root: RunId,
): void {
  const place = [tenant, conversation] as const;
  const row = connection.one<{ open_root: string | null; queue: string }>(
    statements.conversation,
    place,
  );
  if (row === undefined) return;
  const waiting = row.queue.split(' ').filter((id) => id !== '' && id !== root);
  const open = row.open_root === root ? (waiting.shift() ?? null) : row.open_root;
  connection.run(statements.placeConversation, [open, waiting.join(' '), ...place]);
}

function settleTurn(
  { connection, statements }: SqliteParts,
  { tenant }: RunRow,
  { root, turn }: { readonly root: RunId; readonly turn: NonNullable<Commit['settleTurn']> },
): void {
  const place = [tenant, turn.conversationId] as const;
  const n = connection.one<{ readonly turns: number }>(statements.countTurn, place)?.turns;
  if (n === undefined) return;
  connection.run(statements.insertTurn, [...place, n, root, turn.runId]);
}
