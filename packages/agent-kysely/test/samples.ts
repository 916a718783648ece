import {
  type Commit,
  type Creation,
  type Lease,
  type RunState,
  runIdOf,
} from '@hexagent/agent-core';

/** A signal that never aborts. */
export const stop = { signal: new AbortController().signal };

const principal: Creation['principal'] = {
  scope: { tenantId: 'tenant', userId: 'user' },
  subject: 'user',
  roles: [],
  permissions: [],
};

export function run(id: string, part: Partial<RunState> = {}): RunState {
  const runId = runIdOf(id);
  return {
    runId,
    rootRunId: runId,
    conversationId: `conversation of ${id}`,
    agent: 'agent',
    fingerprint: 'fingerprint',
    status: 'active',
    transition: 'running',
    metadata: {},
    counters: {},
    shared: {},
    createdAt: 1,
    statusAt: 1,
    ...part,
  };
}

/** What `create` gets for a run that nobody owns yet. */
export const unowned = {
  first: { input: { plain: {} }, lastSeq: 0 },
  options: { principal, admission: 'reject', ...stop },
} as const;

/** What `create` gets for a run that is owned from the start. */
export const owned = {
  first: unowned.first,
  options: { ...unowned.options, claim: { owner: 'owner', ttlMs: 60_000 } },
} as const;

/** A commit of one event; its number is the owner's. */
export function commitOf(lease: Lease, n: number, part: Partial<Commit> = {}): Commit {
  const { rootRunId: runId } = lease;
  const seq = lease.fence * 2 ** 32 + n;
  return {
    commitId: `${lease.fence}.${n}`,
    progress: true,
    lastSeq: seq,
    openSteps: [],
    runs: [],
    events: [
      {
        runId,
        agent: 'agent',
        firstSeq: seq,
        lastSeq: seq,
        at: 1,
        event: { type: 'progress', message: `${lease.owner} ${n}` },
      },
    ],
    ...part,
  };
}
