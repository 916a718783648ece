import {
  type Created,
  type Creation,
  FORMAT,
  type Lease,
  type RunId,
  type RunOwnership,
  type RunState,
  runIdOf,
  type Written,
} from '@hexagent/agent-core';
import { idTaken } from '../commit-rules.ts';
import { checkKeys } from '../keys.ts';
import { runState, stored } from '../records.ts';
import type { RunRow } from '../tables.ts';
import { replacedBy } from '../wake-ups.ts';
import { applyCommit } from './commit.ts';
import { appendSignal } from './inbox.ts';
import type { SqliteParts } from './parts.ts';
import { insertWritten } from './written.ts';

/** Who may write a run tree. */
export function sqliteOwnership(parts: SqliteParts): RunOwnership {
  const { connection } = parts;
  return {
    create: (run, first, options) =>
      connection.write(() => create(parts, run, { first, options }), options.signal),
    claim: (target, { owner, ttlMs, agents, signal }) =>
      connection.write(() => claim(parts, target, { owner, ttlMs, agents }), signal),
    heartbeat: (leases, { signal }) => connection.write(() => heartbeat(parts, leases), signal),
    commit: (lease, commit, { signal }) =>
      connection.write(() => applyCommit(parts, lease, commit), signal),
  };
}

type First = Parameters<RunOwnership['create']>[1];

function create(
  parts: SqliteParts,
  run: RunState,
  { first, options }: { readonly first: First; readonly options: Creation },
): Created {
  const { connection, statements } = parts;
  const { principal, requestKey, admission, claim } = options;
  const { tenantId, userId = null } = principal.scope;
  checkKeys({ tenantId, userId, requestKey, conversationId: run.conversationId });
  if (requestKey !== undefined) {
    const known = connection.one<RunRow>(statements.runByRequest, [tenantId, requestKey]);
    if (known !== undefined) return { kind: 'exists', run: runState(known) };
  }
  const place = [tenantId, run.conversationId] as const;
  const conversation = connection.one<{
    owner: string | null;
    open_root: string | null;
    queue: string;
  }>(statements.conversation, place);
  if (conversation !== undefined && conversation.owner !== userId) {
    return { kind: 'conversation-foreign' };
  }
  const open = conversation?.open_root ?? null;
  if (open !== null && admission === 'reject') {
    return { kind: 'conversation-busy', runId: runIdOf(open) };
  }
  if (connection.one(statements.runById, [run.runId]) !== undefined) throw idTaken(run.runId);

  const isClaimed = claim !== undefined && open === null;
  const now = parts.now();
  connection.run(statements.insertRun, [
    run.runId,
    run.runId,
    tenantId,
    userId,
    run.conversationId,
    run.agent,
    run.status,
    run.statusAt,
    JSON.stringify(run),
    JSON.stringify(principal),
    JSON.stringify(first.input),
    requestKey ?? null,
    FORMAT,
    0,
    isClaimed ? 1 : 0,
    isClaimed ? claim.owner : null,
    isClaimed ? now + claim.ttlMs : null,
    isClaimed ? 1 : 0,
    first.lastSeq,
    '[]',
    isClaimed ? 0 : 1,
    0,
  ]);
  connection.run(statements.insertInbox, [run.runId, 1, 0]);
  insertWritten(parts, run.runId, first satisfies Written);
  if (conversation === undefined) {
    connection.run(statements.insertConversation, [...place, userId, run.runId, '', 0]);
  } else if (open === null) {
    connection.run(statements.placeConversation, [run.runId, conversation.queue, ...place]);
  } else {
    const queue = `${conversation.queue} ${run.runId}`.trim();
    connection.run(statements.placeConversation, [open, queue, ...place]);
    if (admission === 'interrupt') {
      appendSignal(parts, runIdOf(open), replacedBy(run.runId, principal.subject));
    }
  }
  if (open !== null) return { kind: 'created', behind: runIdOf(open) };
  if (!isClaimed) return { kind: 'created' };
  const { owner, ttlMs } = claim;
  const lease: Lease = {
    rootRunId: run.runId,
    owner,
    fence: 1,
    version: 0,
    ttlMs,
    deliveries: 1,
    claimedAt: now,
    lastSeq: first.lastSeq,
    openSteps: [],
    released: true,
  };
  return { kind: 'created', lease };
}

type ClaimBy = {
  readonly owner: string;
  readonly ttlMs: number;
  readonly agents: readonly string[];
};

function claim(
  { connection, statements, now }: SqliteParts,
  target: RunId | 'next',
  { owner, ttlMs, agents }: ClaimBy,
): Lease | undefined {
  const at = now();
  const row =
    target === 'next'
      ? connection.one<RunRow>(statements.claimable.next, [JSON.stringify(agents), at, FORMAT])
      : connection.one<RunRow>(statements.claimable.one, [target, at, FORMAT]);
  if (row === undefined) return undefined;
  connection.run(statements.claim, [owner, at + ttlMs, row.id]);
  return {
    rootRunId: runIdOf(row.id),
    owner,
    fence: row.fence + 1,
    version: row.version,
    ttlMs,
    deliveries: row.deliveries + 1,
    claimedAt: at,
    lastSeq: row.last_seq,
    openSteps: stored<string[]>(row.open_steps, `the open steps of run ${row.id}`),
    released: row.released === 1,
  };
}

function heartbeat(
  { connection, statements, now }: SqliteParts,
  leases: readonly Lease[],
): { readonly lost: readonly RunId[]; readonly signalled: readonly RunId[] } {
  const lost: RunId[] = [];
  const signalled: RunId[] = [];
  for (const { rootRunId, fence, owner, ttlMs } of leases) {
    if (connection.run(statements.heartbeat, [now() + ttlMs, rootRunId, fence, owner]) === 0) {
      lost.push(rootRunId);
    } else if (connection.one(statements.unread, [rootRunId]) !== undefined) {
      signalled.push(rootRunId);
    }
  }
  return { lost, signalled };
}
