import { storeFailed } from '../../base/error-catalog.ts';
import type { RunId } from '../../base/ids.ts';
import type { Lease } from '../../durable/commit.ts';
import { FORMAT } from '../../durable/durable-store.ts';
import type { Created, Creation, RunOwnership } from '../../durable/run-ownership.ts';
import type { RunState } from '../../vocabulary/state.ts';
import { frozenCopy } from './frozen-copy.ts';
import { applyCommit, checkRows, writeRows } from './memory-commit.ts';
import { appendSignal } from './memory-inbox.ts';
import {
  isClaimable,
  type MemoryConversation,
  type MemoryRoot,
  type MemoryState,
  placeOf,
  rootRunOf,
  tellWorkers,
  woken,
} from './memory-state.ts';

type First = Parameters<RunOwnership['create']>[1];
type ClaimBy = { readonly owner: string; readonly ttlMs: number };

/** Who may write a run tree. Nothing here awaits, so every method is one atomic step. */
export function memoryOwnership(state: MemoryState): RunOwnership {
  return {
    create: async (run, first, options) => {
      options.signal.throwIfAborted();
      const created = create(state, run, { first, options });
      const root = state.roots.get(run.runId);
      if (created.kind === 'created' && root !== undefined) tellWorkers(state, root);
      return created;
    },
    claim: async (target, { owner, ttlMs, agents, signal }) => {
      signal.throwIfAborted();
      const root = target === 'next' ? nextOf(state, agents) : state.roots.get(target);
      if (root === undefined || !isClaimable(root, state.clock.now())) return undefined;
      return grant(state, root, { owner, ttlMs });
    },
    heartbeat: async (leases, { signal }) => {
      signal.throwIfAborted();
      const lost: RunId[] = [];
      const signalled: RunId[] = [];
      for (const { rootRunId, fence, owner, ttlMs } of leases) {
        const root = state.roots.get(rootRunId);
        if (root === undefined || root.head.fence !== fence || root.head.owner !== owner) {
          lost.push(rootRunId);
          continue;
        }
        root.head.leaseUntil = state.clock.now() + ttlMs;
        if (root.inbox.signals.some(({ consumed }) => !consumed)) signalled.push(rootRunId);
      }
      return { lost, signalled };
    },
    claimable: async ({ signal }) => {
      signal.throwIfAborted();
      await woken(state.workers, signal);
    },
    commit: async (lease, commit, { signal }) => {
      signal.throwIfAborted();
      return applyCommit(state, lease, commit);
    },
  };
}

function nextOf(state: MemoryState, agents: readonly string[]): MemoryRoot | undefined {
  const now = state.clock.now();
  for (const root of state.roots.values()) {
    if (agents.includes(rootRunOf(root).agent) && isClaimable(root, now)) return root;
  }
  return undefined;
}

function grant(state: MemoryState, { rootRunId, head }: MemoryRoot, by: ClaimBy): Lease {
  const { released } = head;
  head.fence += 1;
  head.deliveries += 1;
  head.owner = by.owner;
  head.leaseUntil = state.clock.now() + by.ttlMs;
  head.released = false;
  const { fence, version, deliveries, lastSeq, openSteps } = head;
  const { owner, ttlMs } = by;
  const claimedAt = state.clock.now();
  return {
    rootRunId,
    owner,
    fence,
    version,
    ttlMs,
    deliveries,
    claimedAt,
    lastSeq,
    openSteps,
    released,
  };
}

function create(
  state: MemoryState,
  run: RunState,
  { first, options }: { readonly first: First; readonly options: Creation },
): Created {
  const { tenantId, userId } = options.principal.scope;
  const { requestKey, admission } = options;
  const request = requestKey === undefined ? undefined : placeOf(tenantId, requestKey);
  const known = request === undefined ? undefined : state.requests.get(request);
  const earlier = known === undefined ? undefined : state.roots.get(known);
  if (earlier !== undefined) return { kind: 'exists', run: rootRunOf(earlier) };
  const place = placeOf(tenantId, run.conversationId);
  const conversation = state.conversations.get(place) ?? { userId, roots: [], turns: [] };
  if (conversation.userId !== userId) return { kind: 'conversation-foreign' };
  const [open] = conversation.roots;
  if (open !== undefined && admission === 'reject') {
    return { kind: 'conversation-busy', runId: open };
  }
  if (state.roots.has(run.runId)) {
    throw storeFailed(`the creation of ${run.runId}`, 'there is a run of this id');
  }
  const root = newRoot(run, { first, options, conversation });

  state.roots.set(root.rootRunId, root);
  if (request !== undefined) state.requests.set(request, root.rootRunId);
  state.conversations.set(place, conversation);
  conversation.roots.push(root.rootRunId);
  if (open === undefined) {
    const { claim } = options;
    return claim === undefined
      ? { kind: 'created' }
      : { kind: 'created', lease: grant(state, root, claim) };
  }
  if (admission === 'interrupt') interrupt(state, open, root);
  return { kind: 'created', behind: open };
}

function newRoot(
  run: RunState,
  from: {
    readonly first: First;
    readonly options: Creation;
    readonly conversation: MemoryConversation;
  },
): MemoryRoot {
  const { input, lastSeq, events = [], evidence = [], messages = [] } = frozenCopy(from.first);
  const root: MemoryRoot = {
    rootRunId: run.runId,
    principal: frozenCopy(from.options.principal),
    requestKey: from.options.requestKey,
    conversation: from.conversation,
    format: FORMAT,
    head: {
      fence: 0,
      version: 0,
      owner: undefined,
      leaseUntil: 0,
      deliveries: 0,
      commitId: undefined,
      lastSeq,
      prunedThrough: 0,
      openSteps: [],
      released: true,
      wakeAt: undefined,
    },
    runs: new Map([[run.runId, frozenCopy(run)]]),
    calls: new Map(),
    waits: new Map(),
    evidence: [],
    messages: [],
    events: [],
    inbox: { closed: false, signals: [], keys: new Map(), control: [] },
    input,
    watchers: new Set(),
  };
  checkRows(root, { events, evidence, messages });
  writeRows(root, { events, evidence, messages });
  return root;
}

/** The open run is asked to stop; the new one waits until it has. */
function interrupt(state: MemoryState, open: RunId, { rootRunId, principal }: MemoryRoot): void {
  const root = state.roots.get(open);
  /* v8 ignore next -- a conversation names only roots that are stored and have not ended */
  if (root === undefined) return;
  const payload = { reason: `Replaced by run ${rootRunId}.`, requestedBy: principal.subject };
  const cancel = { kind: 'cancel', payload, dedupeKey: `replaced:${rootRunId}` } as const;
  appendSignal(root, cancel, state.clock.now());
}
