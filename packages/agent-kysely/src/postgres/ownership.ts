import {
  type Created,
  type Creation,
  FORMAT,
  type Lease,
  type RunId,
  type RunOwnership,
  type RunState,
  runIdOf,
} from '@hexagent/agent-core';
import { idTaken, writtenBefore } from '../commit-rules.ts';
import { checkKeys } from '../keys.ts';
import { runState, stored } from '../records.ts';
import type { RunRow } from '../tables.ts';
import { claimStatement } from './claim.ts';
import { sendCommit } from './commit.ts';
import { createStatement } from './create.ts';
import type { PostgresParts } from './parts.ts';
import { NOW, statementWriter } from './statement.ts';

/** Who may write a run tree. */
export function postgresOwnership(parts: PostgresParts): RunOwnership {
  return {
    create: (run, first, options) => create(parts, run, { first, options }),
    claim: (target, options) => claim(parts, target, options),
    heartbeat: (leases, { signal }) => heartbeat(parts, leases, signal),
    commit: (lease, commit, { signal }) => sendCommit(parts, { lease, commit, signal }),
  };
}

type First = Parameters<RunOwnership['create']>[1];

type CreateRow = {
  readonly known: string | null;
  readonly known_id: string | null;
  readonly found: boolean;
  readonly open_root: string | null;
  readonly is_created: boolean;
  readonly claimed_at: number;
};

async function create(
  parts: PostgresParts,
  run: RunState,
  { first, options }: { readonly first: First; readonly options: Creation },
): Promise<Created> {
  const { requestKey, principal, claim, signal } = options;
  const { tenantId, userId } = principal.scope;
  checkKeys({ tenantId, userId, requestKey, conversationId: run.conversationId });
  const [row] = await parts.database.run<CreateRow>(
    createStatement(parts, run, { first, options }),
    {
      signal,
      retryOn: ['run_request'],
      taken: (key) =>
        key === 'run_pk' ? idTaken(run.runId) : writtenBefore(run.runId, `a row of "${key}"`),
    },
  );
  if (row === undefined) throw idTaken(run.runId);
  if (row.known !== null && row.known_id !== null) {
    return { kind: 'exists', run: runState({ id: row.known_id, state: row.known }) };
  }
  if (!row.is_created) {
    // Whoever was faster may have had the same key; then it was not yet to be seen.
    const earlier = await byRequest(parts, options);
    if (earlier !== undefined) return { kind: 'exists', run: earlier };
    if (!row.found || row.open_root === null) return { kind: 'conversation-foreign' };
    return { kind: 'conversation-busy', runId: runIdOf(row.open_root) };
  }
  if (row.open_root !== null && row.open_root !== run.runId) {
    // The run before it has been sent a cancellation, and may be in nobody's hands.
    if (options.admission === 'interrupt') parts.claimable();
    return { kind: 'created', behind: runIdOf(row.open_root) };
  }
  if (claim === undefined) {
    parts.claimable();
    return { kind: 'created' };
  }
  const lease: Lease = {
    rootRunId: run.runId,
    owner: claim.owner,
    fence: 1,
    version: 0,
    ttlMs: claim.ttlMs,
    deliveries: 1,
    claimedAt: row.claimed_at,
    lastSeq: first.lastSeq,
    openSteps: [],
    released: true,
  };
  return { kind: 'created', lease };
}

async function byRequest(
  { database, names }: PostgresParts,
  { requestKey, principal, signal }: Creation,
): Promise<RunState | undefined> {
  if (requestKey === undefined) return undefined;
  const writer = statementWriter('by_request');
  const tenant = writer.value(principal.scope.tenantId, 'text');
  const key = writer.value(requestKey, 'text');
  writer.part(
    'known',
    `select id, state from ${names.run} where tenant = ${tenant} and request_key = ${key}`,
  );
  const [row] = await database.run<Pick<RunRow, 'id' | 'state'>>(
    writer.finish('select id, state from known'),
    { signal },
  );
  return row === undefined ? undefined : runState(row);
}

async function claim(
  parts: PostgresParts,
  target: RunId | 'next',
  options: Parameters<RunOwnership['claim']>[1],
): Promise<Lease | undefined> {
  const { owner, ttlMs, signal } = options;
  const [row] = await parts.database.run<RunRow & { readonly claimed_at: number }>(
    claimStatement(parts, target, { ...options, format: FORMAT }),
    { signal },
  );
  if (row === undefined) return undefined;
  return {
    rootRunId: runIdOf(row.id),
    owner,
    fence: row.fence,
    version: row.version,
    ttlMs,
    deliveries: row.deliveries,
    claimedAt: row.claimed_at,
    lastSeq: row.last_seq,
    openSteps: stored<string[]>(row.open_steps, `the open steps of run ${row.id}`),
    released: row.released === 1,
  };
}

async function heartbeat(
  { database, names }: PostgresParts,
  leases: readonly Lease[],
  signal: AbortSignal,
): ReturnType<RunOwnership['heartbeat']> {
  if (leases.length === 0) return { lost: [], signalled: [] };
  const writer = statementWriter('heartbeat');
  const sent = writer.value(
    JSON.stringify(
      leases.map(({ rootRunId, fence, owner, ttlMs }) => ({
        id: rootRunId,
        fence,
        owner,
        ttl: Math.round(ttlMs),
      })),
    ),
    'json',
  );
  writer.part(
    'kept',
    `update ${names.run} r set lease_until = ${NOW} + x.ttl from json_to_recordset(${sent}) as x(id text, fence bigint, owner text, ttl bigint) where r.id = x.id and r.fence = x.fence and r.owner = x.owner returning r.id`,
  );
  const rows = await database.run<{ readonly id: string; readonly signalled: boolean }>(
    writer.finish(
      `select id, exists (select 1 from ${names.signal} s where s.root = kept.id and s.consumed_at is null) as signalled from kept`,
    ),
    { signal },
  );
  const roots = leases.map(({ rootRunId }) => rootRunId);
  const isIn = (found: typeof rows) => (root: RunId) => found.some(({ id }) => id === root);
  return {
    lost: roots.filter((root) => !isIn(rows)(root)),
    signalled: roots.filter(isIn(rows.filter(({ signalled }) => signalled))),
  };
}
