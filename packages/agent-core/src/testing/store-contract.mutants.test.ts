import { expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { runIdOf } from '../base/ids.ts';
import type { Commit, CommitResult, Lease } from '../durable/commit.ts';
import type { DurableStore } from '../durable/durable-store.ts';
import { isControl } from '../vocabulary/signal.ts';
import { isTerminal } from '../vocabulary/state.ts';
import { fakeClock } from './fake-clock.ts';
import {
  isLeased,
  type MemoryHead,
  type MemoryRoot,
  type MemoryState,
  memoryState,
  rootRunOf,
} from './memory/memory-state.ts';
import { storeOver } from './memory-store.ts';
import { type StoreSubject, storeCapabilities } from './store-contract/store-subject.ts';
import { storeContract } from './store-contract.ts';

/** A store with one promise broken. */
type Mutant = (store: DurableStore, state: MemoryState) => DurableStore;

const NEVER = { signal: new AbortController().signal };
const TOO_LONG = 2_000;

// ── how to break a port ──────────────────────────────────────────────────────────────────────────

type Ports = Omit<DurableStore, 'liveFlushMs'>;

function broken<P extends keyof Ports>(
  port: P,
  change: (real: Ports[P], state: MemoryState) => Partial<Ports[P]>,
): Mutant {
  return (store, state) => ({
    ...store,
    [port]: { ...store[port], ...change(store[port], state) },
  });
}

/** What is sent is altered on its way. */
function sending(
  alter: (
    sent: { lease: Lease; commit: Commit },
    root: MemoryRoot | undefined,
  ) => Partial<{ lease: Lease; commit: Commit }>,
): Mutant {
  return broken('ownership', (real, state) => ({
    commit: (lease, commit, stop) => {
      const sent = { lease, commit, ...alter({ lease, commit }, state.roots.get(lease.rootRunId)) };
      return real.commit(sent.lease, sent.commit, stop);
    },
  }));
}

const sendingCommit = (
  alter: (commit: Commit, root: MemoryRoot | undefined) => Partial<Commit>,
): Mutant => sending(({ commit }, root) => ({ commit: { ...commit, ...alter(commit, root) } }));

const sendingLease = (alter: (lease: Lease, head: MemoryHead) => Partial<Lease>): Mutant =>
  sending(({ lease }, root) =>
    root === undefined ? {} : { lease: { ...lease, ...alter(lease, root.head) } },
  );

/** What was committed is altered afterwards. */
function afterCommit(
  alter: (
    root: MemoryRoot,
    commit: Commit,
    before: { readonly head: MemoryHead; readonly waits: MemoryRoot['waits'] },
  ) => void,
): Mutant {
  return broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      const before = root && { head: { ...root.head }, waits: new Map(root.waits) };
      const result = await real.commit(lease, commit, stop);
      if (root && before && result.kind === 'committed') alter(root, commit, before);
      return result;
    },
  }));
}

/** The root is altered before a claim looks at it, and the claimed one after. */
function claiming(
  before: (root: MemoryRoot, state: MemoryState) => void,
  after: (root: MemoryRoot, lease: Lease) => Partial<Lease> = () => ({}),
): Mutant {
  return broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      for (const root of state.roots.values()) {
        if (
          target === 'next'
            ? options.agents.includes(rootRunOf(root).agent)
            : target === root.rootRunId
        )
          before(root, state);
      }
      const lease = await real.claim(target, options);
      const root = lease && state.roots.get(lease.rootRunId);
      return lease && root ? { ...lease, ...after(root, lease) } : lease;
    },
  }));
}

const asStatus = (root: MemoryRoot, status: 'active'): void => {
  root.runs.set(root.rootRunId, { ...rootRunOf(root), status });
};
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
const superseded: CommitResult = { kind: 'superseded' };

// ── the mutants ──────────────────────────────────────────────────────────────────────────────────

const mutants: Readonly<Record<string, Mutant>> = {
  // create
  'a request key is not looked up': broken('ownership', (real) => ({
    create: (run, first, { requestKey: _, ...options }) => real.create(run, first, options),
  })),
  'a request key belongs to everybody': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      for (const root of state.roots.values()) {
        if (options.requestKey !== undefined && root.requestKey === options.requestKey)
          return { kind: 'exists', run: rootRunOf(root) };
      }
      return real.create(run, first, options);
    },
  })),
  'a request key is forgotten with the end of its run': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      for (const [key, id] of state.requests) {
        const root = state.roots.get(id);
        if (root && isTerminal(rootRunOf(root).status)) state.requests.delete(key);
      }
      return real.create(run, first, options);
    },
  })),
  'exists answers the run as it was created': broken('ownership', (real) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      return created.kind === 'exists'
        ? { ...created, run: { ...created.run, status: 'created' } }
        : created;
    },
  })),
  'create looks for the request key, waits, and then writes': broken(
    'ownership',
    (real, state) => ({
      create: async (run, first, options) => {
        const known = [...state.roots.values()].find(
          ({ requestKey }) => requestKey !== undefined && requestKey === options.requestKey,
        );
        await tick();
        if (known) return { kind: 'exists', run: rootRunOf(known) };
        const { requestKey: _, ...rest } = options;
        return real.create(run, first, rest);
      },
    }),
  ),
  'reject queues': broken('ownership', (real) => ({
    create: (run, first, options) => real.create(run, first, { ...options, admission: 'queue' }),
  })),
  'interrupt only queues': broken('ownership', (real) => ({
    create: (run, first, options) =>
      real.create(run, first, {
        ...options,
        admission: options.admission === 'interrupt' ? 'queue' : options.admission,
      }),
  })),
  'queue asks the open run to cancel': broken('ownership', (real) => ({
    create: (run, first, options) =>
      real.create(run, first, {
        ...options,
        admission: options.admission === 'queue' ? 'interrupt' : options.admission,
      }),
  })),
  'a foreign conversation is entered': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      for (const [key, conversation] of state.conversations) {
        if (!key.includes(run.conversationId)) continue;
        state.conversations.set(key, { ...conversation, userId: options.principal.scope.userId });
      }
      return real.create(run, first, options);
    },
  })),
  'a queued run is claimed by its create': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      if (created.kind !== 'created' || created.lease || !options.claim) return created;
      const root = state.roots.get(run.runId);
      if (root) asStatus(root, 'active');
      const lease = await real.claim(run.runId, { ...options.claim, agents: [], ...NEVER });
      return lease ? { ...created, lease } : created;
    },
  })),
  'a second run of one id replaces the first': broken('ownership', (real, state) => ({
    create: (run, first, options) => {
      state.roots.delete(run.runId);
      return real.create(run, first, options);
    },
  })),
  'create loses its first evidence': broken('ownership', (real) => ({
    create: (run, { evidence: _, ...first }, options) => real.create(run, first, options),
  })),

  // claim
  'claim does not raise the fence': claiming((root) => (root.head.fence -= 1)),
  'claim does not count the delivery': claiming(
    () => {},
    (root) => {
      root.head.deliveries -= 1;
      return { deliveries: root.head.deliveries };
    },
  ),
  'claim takes a live lease': claiming((root) => (root.head.leaseUntil = 0)),
  'claim takes a live lease of the same owner': broken('ownership', (real, state) => ({
    claim: (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      if (root?.head.owner === options.owner) root.head.leaseUntil = 0;
      return real.claim(target, options);
    },
  })),
  'a lease never runs out': claiming((root) => (root.head.leaseUntil = Number.POSITIVE_INFINITY)),
  'a created run is not claimable': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      return root && rootRunOf(root).status === 'created' ? undefined : real.claim(target, options);
    },
  })),
  'a queued run does not wait for its turn': claiming(({ conversation, rootRunId }) => {
    conversation.roots = [rootRunId, ...conversation.roots.filter((id) => id !== rootRunId)];
  }),
  'a paused run is always claimable': claiming((root) => {
    if (rootRunOf(root).status === 'interrupted') asStatus(root, 'active');
  }),
  'any unread signal makes a paused run claimable': claiming((root) => {
    if (
      root.inbox.signals.some(({ consumed }) => !consumed) &&
      rootRunOf(root).status === 'interrupted'
    )
      asStatus(root, 'active');
  }),
  'only a cancel makes a paused run claimable': claiming((root) => {
    for (const entry of root.inbox.signals) {
      if (isControl(entry.signal.kind) && entry.signal.kind !== 'cancel') entry.consumed = true;
    }
  }),
  'a read control signal still makes a paused run claimable': claiming((root) => {
    if (
      root.inbox.signals.some(({ signal }) => isControl(signal.kind)) &&
      rootRunOf(root).status === 'interrupted'
    )
      asStatus(root, 'active');
  }),
  'timers are not looked at': claiming((root) => (root.head.wakeAt = undefined)),
  'a claim uses up the timer': claiming(
    () => {},
    (root) => {
      root.head.wakeAt = undefined;
      return {};
    },
  ),
  'a flush takes the timer away': afterCommit(({ head }, { release }) => {
    if (!release) head.wakeAt = undefined;
  }),
  'a timer is due at once': claiming((root) => {
    if (root.head.wakeAt !== undefined) root.head.wakeAt = 0;
  }),
  'a release keeps the timer of the one before': afterCommit(({ head }, { release }, before) => {
    if (release && release.wakeInMs === undefined) head.wakeAt = before.head.wakeAt;
  }),
  'due waits are not looked at': claiming((root) => {
    for (const [id, { expiresAt: _, ...wait }] of root.waits) root.waits.set(id, wait);
  }),
  'a due wait counts also after it was closed': claiming((root, { clock }) => {
    const due = [...root.waits.values()].some(
      ({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= clock.now(),
    );
    if (due && rootRunOf(root).status === 'interrupted') asStatus(root, 'active');
  }),
  'a run that has ended is claimable': claiming((root) => {
    if (isTerminal(rootRunOf(root).status)) asStatus(root, 'active');
  }),
  'next takes any agent': broken('ownership', (real, state) => ({
    claim: (target, options) =>
      real.claim(target, {
        ...options,
        agents: [...state.roots.values()].map((root) => rootRunOf(root).agent),
      }),
  })),
  'a claim by id asks for the agent': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      return root && !options.agents.includes(rootRunOf(root).agent)
        ? undefined
        : real.claim(target, options);
    },
  })),
  'released is not taken back': claiming(
    () => {},
    ({ head }) => {
      head.released = true;
      return {};
    },
  ),
  'a claim forgets the open steps': claiming(
    () => {},
    () => ({ openSteps: [] }),
  ),
  'claim looks, waits, and then takes': broken('ownership', (real, state) => ({
    claim: async (target, options) => {
      const root = target === 'next' ? undefined : state.roots.get(target);
      if (!root || isLeased(root, state.clock.now())) return real.claim(target, options);
      await tick();
      root.head.owner = undefined;
      return real.claim(target, options);
    },
  })),

  // heartbeat
  'a heartbeat moves the version': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) => {
      for (const { rootRunId } of leases) {
        const root = state.roots.get(rootRunId);
        if (root) root.head.version += 1;
      }
      return real.heartbeat(leases, stop);
    },
  })),
  'a heartbeat extends nothing': broken('ownership', (real) => ({
    heartbeat: (leases, stop) =>
      real.heartbeat(
        leases.map((lease) => ({ ...lease, ttlMs: 0 })),
        stop,
      ),
  })),
  'a heartbeat compares only the fence': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) => {
      for (const { rootRunId, fence, owner } of leases) {
        const root = state.roots.get(rootRunId);
        if (root?.head.fence === fence) root.head.owner = owner;
      }
      return real.heartbeat(leases, stop);
    },
  })),
  'a heartbeat compares only the owner': broken('ownership', (real, state) => ({
    heartbeat: (leases, stop) =>
      real.heartbeat(
        leases.map((lease) => ({
          ...lease,
          fence: state.roots.get(lease.rootRunId)?.head.fence ?? 0,
        })),
        stop,
      ),
  })),
  'a heartbeat refuses a lease that ran out': broken('ownership', (real, state) => ({
    heartbeat: async (leases, stop) => {
      const late = leases.filter(({ rootRunId }) => {
        const root = state.roots.get(rootRunId);
        return root && !isLeased(root, state.clock.now());
      });
      const beat = await real.heartbeat(leases, stop);
      return { ...beat, lost: [...beat.lost, ...late.map(({ rootRunId }) => rootRunId)] };
    },
  })),
  'a heartbeat tells no signals': broken('ownership', (real) => ({
    heartbeat: async (leases, stop) => ({ ...(await real.heartbeat(leases, stop)), signalled: [] }),
  })),
  'a heartbeat tells signals that were read': broken('ownership', (real, state) => ({
    heartbeat: async (leases, stop) => {
      const beat = await real.heartbeat(leases, stop);
      const live = leases.map(({ rootRunId }) => rootRunId).filter((id) => !beat.lost.includes(id));
      return { ...beat, signalled: live.filter((id) => state.roots.get(id)?.inbox.signals.length) };
    },
  })),

  // commit: who
  'the fence is not compared': sendingLease((lease, head) => ({
    fence: head.fence,
    owner: head.owner ?? lease.owner,
  })),
  'the owner is not compared': sendingLease((lease, { owner }) => ({
    owner: owner ?? lease.owner,
  })),
  'the version is not compared': sendingLease((_, { version }) => ({ version })),
  'a commit again is committed whatever the fence': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const head = state.roots.get(lease.rootRunId)?.head;
      if (head && head.commitId === commit.commitId)
        return { kind: 'committed', version: head.version };
      return real.commit(lease, commit, stop);
    },
  })),
  'a commit again is not known': sendingCommit(({ commitId }) => ({
    commitId: `${commitId} ${Math.random()}`,
  })),
  'a commit again is applied again': sending(({ lease, commit }, root) => {
    if (root?.head.commitId !== commit.commitId) return {};
    root.head.commitId = undefined;
    return {
      lease: { ...lease, version: root.head.version },
      commit: { ...commit, messages: [], evidence: [], events: [], opens: [], consume: [] },
    };
  }),
  'a commit again is not known after a release': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      return root?.head.owner === undefined ? superseded : real.commit(lease, commit, stop);
    },
  })),
  'every commit of the run is known again': broken('ownership', (real, state) => {
    const known = new Set<string>();
    return {
      commit: async (lease, commit, stop) => {
        const head = state.roots.get(lease.rootRunId)?.head;
        if (head && known.has(commit.commitId))
          return head.fence === lease.fence
            ? { kind: 'committed', version: head.version }
            : superseded;
        known.add(commit.commitId);
        return real.commit(lease, commit, stop);
      },
    };
  }),
  'a lease that ran out cannot commit': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      return root?.head.owner !== undefined && !isLeased(root, state.clock.now())
        ? superseded
        : real.commit(lease, commit, stop);
    },
  })),
  'the inbox is compared before the version': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const root = state.roots.get(lease.rootRunId);
      if (root && commit.release && root.inbox.signals.length > commit.release.lastSeenSeq)
        return { kind: 'inbox-moved' };
      return real.commit(lease, commit, stop);
    },
  })),
  'commit compares, waits, and then writes': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const head = state.roots.get(lease.rootRunId)?.head;
      if (head?.version !== lease.version || head.commitId === commit.commitId)
        return real.commit(lease, commit, stop);
      await tick();
      return real.commit({ ...lease, version: head.version }, commit, stop);
    },
  })),

  // commit: the inbox and the waits
  'a release does not look at the inbox': sendingCommit(({ release }) =>
    release ? { release: { ...release, lastSeenSeq: 1e9 } } : {},
  ),
  'an end does not look at the inbox': sendingCommit(({ closeInbox }) =>
    closeInbox ? { closeInbox: 'anyway' } : {},
  ),
  'messages hold up a cancel': sendingCommit(({ closeInbox }) =>
    closeInbox === 'anyway' ? { closeInbox: { lastSeenSeq: 0 } } : {},
  ),
  'an end leaves the inbox open': afterCommit(({ inbox }) => (inbox.closed = false)),
  'an end reads every message': afterCommit(({ inbox }, { closeInbox }) => {
    if (closeInbox) for (const entry of inbox.signals) entry.consumed = true;
  }),
  'every commit must have seen the inbox': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const unread = state.roots
        .get(lease.rootRunId)
        ?.inbox.signals.some(({ consumed }) => !consumed);
      return unread && !commit.consume && !commit.release && !commit.closeInbox
        ? { kind: 'inbox-moved' }
        : real.commit(lease, commit, stop);
    },
  })),
  'a move does not compare': sendingCommit(({ moves }) =>
    moves
      ? {
          moves: moves.map((move) => ({
            ...move,
            from: ['pending', 'resolved', 'used', 'expired', 'void'] as const,
          })),
        }
      : {},
  ),
  'a move that does not match is left out': sendingCommit(({ moves }, root) => {
    if (!moves) return {};
    return {
      moves: moves.filter(({ id, from }) => from.includes(root?.waits.get(id)?.status ?? 'void')),
    };
  }),
  'an end voids nothing': afterCommit((root, { voidWaits }, before) => {
    if (voidWaits) for (const [id, wait] of before.waits) root.waits.set(id, wait);
  }),
  'an end voids only what is pending': afterCommit((root, { voidWaits }, before) => {
    if (!voidWaits) return;
    for (const [id, wait] of before.waits) if (wait.status === 'resolved') root.waits.set(id, wait);
  }),
  'an end voids what was used': afterCommit(({ waits }, { voidWaits }) => {
    if (!voidWaits) return;
    for (const [id, wait] of waits) waits.set(id, { ...wait, status: 'void' });
  }),
  'an end voids the waits of every run': broken('ownership', (real, state) => ({
    commit: (lease, commit, stop) => {
      if (commit.voidWaits) {
        for (const { waits } of state.roots.values())
          for (const [id, wait] of waits) waits.set(id, { ...wait, status: 'void' });
      }
      return real.commit(lease, commit, stop);
    },
  })),
  'signals are not consumed': afterCommit(({ inbox }, { consume }) => {
    for (const { signal, ...entry } of inbox.signals)
      if (consume?.includes(signal.seq))
        inbox.signals[signal.seq - 1] = { ...entry, signal, consumed: false };
  }),
  'a signal may be consumed twice': sendingCommit(({ consume }, root) =>
    consume
      ? { consume: consume.filter((seq) => root?.inbox.signals[seq - 1]?.consumed === false) }
      : {},
  ),
  'a wait may be opened twice': sendingCommit(({ opens = [] }, root) => {
    for (const { id } of opens) root?.waits.delete(id);
    return {};
  }),
  'a wait that is there is left as it is': sendingCommit(({ opens }, root) =>
    opens ? { opens: opens.filter(({ id }) => !root?.waits.has(id)) } : {},
  ),
  'waits never expire': sendingCommit(({ opens }) =>
    opens ? { opens: opens.map(({ ttlMs: _, ...wait }) => wait) } : {},
  ),

  // commit: rows and values
  'an event that is there is left as it is': sendingCommit(({ events }, root) => {
    const last = root?.events.at(-1)?.lastSeq ?? 0;
    return events ? { events: events.filter(({ firstSeq }) => firstSeq > last) } : {};
  }),
  'an evidence row that is there is left as it is': sendingCommit(({ evidence }, root) => {
    const last = root?.evidence.at(-1)?.seq ?? 0;
    return evidence ? { evidence: evidence.filter(({ seq }) => seq > last) } : {};
  }),
  'a message that is there is replaced': sendingCommit(({ messages = [] }, root) => {
    if (root)
      root.messages = root.messages.filter(
        (old) => !messages.some(({ runId, seq }) => old.runId === runId && old.seq === seq),
      );
    return {};
  }),
  'a refused commit leaves its calls behind': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      try {
        return await real.commit(lease, commit, stop);
      } catch (reason) {
        for (const call of commit.calls ?? [])
          state.roots.get(lease.rootRunId)?.calls.set(call.callId, call);
        throw reason;
      }
    },
  })),
  'a commit that is turned away leaves its calls behind': broken('ownership', (real, state) => ({
    commit: async (lease, commit, stop) => {
      const result = await real.commit(lease, commit, stop);
      if (result.kind === 'inbox-moved')
        for (const call of commit.calls ?? [])
          state.roots.get(lease.rootRunId)?.calls.set(call.callId, call);
      return result;
    },
  })),
  'values are written before the commit': (store) => ({
    ...store,
    ownership: {
      ...store.ownership,
      commit: async (lease, commit, stop) => {
        for (const write of commit.values ?? []) await store.values.put(write, stop);
        const { values: _, ...rest } = commit;
        return store.ownership.commit(lease, rest, stop);
      },
    },
  }),
  'values of a commit are not compared': sendingCommit(({ values }) =>
    values ? { values: values.map(({ expect: _, ...write }) => write) } : {},
  ),
  'values of a commit never expire': sendingCommit(({ values }) =>
    values ? { values: values.map(({ ttlMs: _, ...write }) => write) } : {},
  ),
  'child runs are not kept': sendingCommit(({ runs }) => ({
    runs: runs.filter(({ runId, rootRunId }) => runId === rootRunId),
  })),
  'a call is written once': sendingCommit(({ calls }, root) =>
    calls ? { calls: calls.filter(({ callId }) => !root?.calls.has(callId)) } : {},
  ),
  'the open steps are not kept': sendingCommit(() => ({ openSteps: [] })),
  'the last number is not kept': afterCommit(
    ({ head }, _, before) => (head.lastSeq = before.head.lastSeq),
  ),

  // commit: deliveries, release, end
  'progress resets nothing': sendingCommit(() => ({ progress: false })),
  'the poison question resets nothing': sendingCommit(({ poison: _, ...commit }) => ({
    ...commit,
    poison: undefined as never,
  })),
  'every commit is progress': sendingCommit(() => ({ progress: true })),
  'every commit takes the delivery back': afterCommit(
    ({ head }, _, before) => (head.deliveries = Math.max(0, before.head.deliveries - 1)),
  ),
  'a release takes no delivery back': afterCommit(
    ({ head }, { release, progress, poison }, before) => {
      if (release && !progress && !poison) head.deliveries = before.head.deliveries;
    },
  ),
  'deliveries go below zero': afterCommit(({ head }, { release, progress }, before) => {
    if (release && !progress) head.deliveries = before.head.deliveries - 1;
  }),
  'a release keeps the lease': afterCommit(({ head }, { release }, before) => {
    if (release)
      Object.assign(head, { owner: before.head.owner, leaseUntil: before.head.leaseUntil });
  }),
  'a release is not remembered': afterCommit(({ head }) => (head.released = false)),
  'an end keeps the lease': afterCommit(({ head }, { release }, before) => {
    if (!release) head.owner = before.head.owner;
  }),
  'an end does not let the next run in': afterCommit((root, { closeInbox }) => {
    if (closeInbox && !root.conversation.roots.includes(root.rootRunId))
      root.conversation.roots.unshift(root.rootRunId);
  }),
  'only a settled run lets the next one in': afterCommit((root, { closeInbox, settleTurn }) => {
    if (closeInbox && !settleTurn) root.conversation.roots.unshift(root.rootRunId);
  }),
  'every end is a turn': afterCommit(({ conversation, rootRunId }, { closeInbox, settleTurn }) => {
    if (closeInbox && !settleTurn) conversation.turns.push(rootRunId);
  }),

  // inbox
  'a closed inbox is looked at before the key': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) =>
      state.roots.get(id)?.inbox.closed ? 'terminal' : real.append(id, signal, stop),
  })),
  'a key may be taken twice': broken('inbox', (real) => ({
    append: (id, signal, stop) =>
      real.append(id, { ...signal, dedupeKey: `${signal.dedupeKey}${Math.random()}` }, stop),
  })),
  'a key is free again once its signal is read': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const read = state.roots
        .get(id)
        ?.inbox.signals.find(
          (entry) => entry.consumed && entry.signal.dedupeKey === signal.dedupeKey,
        );
      return real.append(
        id,
        read ? { ...signal, dedupeKey: `${signal.dedupeKey} again` } : signal,
        stop,
      );
    },
  })),
  'a key is taken in every run': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) => {
      const known = [...state.roots.values()].some(({ inbox }) =>
        inbox.signals.some((entry) => entry.signal.dedupeKey === signal.dedupeKey),
      );
      return known ? 'duplicate' : real.append(id, signal, stop);
    },
  })),
  'a closed inbox takes signals': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const root = state.roots.get(id);
      if (root) root.inbox.closed = false;
      return real.append(id, signal, stop);
    },
  })),
  'append moves the version': broken('inbox', (real, state) => ({
    append: (id, signal, stop) => {
      const root = state.roots.get(id);
      if (root) root.head.version += 1;
      return real.append(id, signal, stop);
    },
  })),
  'append looks, waits, and then writes': broken('inbox', (real, state) => ({
    append: async (id, signal, stop) => {
      const root = state.roots.get(id);
      const closed = root?.inbox.closed;
      await tick();
      if (root && !closed) root.inbox.closed = false;
      return real.append(id, signal, stop);
    },
  })),
  'read signals are pending still': broken('inbox', (_, state) => ({
    pending: async (id) => (state.roots.get(id)?.inbox.signals ?? []).map(({ signal }) => signal),
  })),
  'signals come newest first': broken('inbox', (real) => ({
    pending: async (id, stop) => [...(await real.pending(id, stop))].reverse(),
  })),
  'a payload is not kept': broken('inbox', (real) => ({
    append: (id, signal, stop) => real.append(id, { ...signal, payload: {} }, stop),
  })),

  // waits
  'the digest is not compared': resolvingWith((answer, wait) => ({
    ...answer,
    digest: wait.digest,
  })),
  'any decision is allowed': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait) waits.set(id, { ...wait, allowed: [...wait.allowed, answer.decision] });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'expiry is not looked at': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait?.status === 'pending')
          waits.set(id, { ...wait, expiresAt: Number.MAX_SAFE_INTEGER });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'the last answer wins': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits, inbox } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait?.status !== 'resolved') continue;
        waits.set(id, { ...wait, status: 'pending' });
        inbox.signals.pop();
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'a closed wait can be answered': broken('inbox', (real, state) => ({
    resolve: (id, answer, stop) => {
      for (const { waits } of state.roots.values()) {
        const wait = waits.get(id);
        if (wait && wait.status !== 'resolved') waits.set(id, { ...wait, status: 'pending' });
      }
      return real.resolve(id, answer, stop);
    },
  })),
  'an answer wakes nobody': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      if (result.kind === 'resolved') state.roots.get(result.rootRunId)?.inbox.signals.pop();
      return result;
    },
  })),
  'an answer moves the version': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      const root = result.kind === 'resolved' ? state.roots.get(result.rootRunId) : undefined;
      if (root) root.head.version += 1;
      return result;
    },
  })),
  'the later answers are told the first one': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      const wait =
        result.kind === 'already'
          ? state.roots.get(result.wait.rootRunId)?.waits.get(id)
          : undefined;
      return wait ? { kind: 'already', wait } : result;
    },
  })),
  'who answered is not kept': broken('inbox', (real) => ({
    resolve: (id, answer, stop) => real.resolve(id, { ...answer, by: '' }, stop),
  })),
  'resolve looks, waits, and then writes': broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const root = [...state.roots.values()].find(({ waits }) => waits.has(id));
      const seen = root?.waits.get(id);
      await tick();
      if (root && seen) {
        root.waits.set(id, seen);
        root.inbox.closed = false;
        root.inbox.signals.length = 0;
      }
      return real.resolve(id, answer, stop);
    },
  })),

  // log
  'the log cuts the first row': broken('log', (real) => ({
    read: async (id, options) =>
      (await real.read(id, options)).map((row) =>
        row.firstSeq > options.after ? row : { ...row, firstSeq: options.after + 1 },
      ),
  })),
  'the log leaves out a row that is read in part': broken('log', (real) => ({
    read: async (id, options) =>
      (await real.read(id, options)).filter(({ firstSeq }) => firstSeq > options.after),
  })),
  'the log gives the row at the cursor again': broken('log', (real) => ({
    read: (id, options) => real.read(id, { ...options, after: options.after - 1 }),
  })),
  'the log has no pages': broken('log', (real) => ({
    read: (id, options) => real.read(id, { ...options, limit: 1e9 }),
  })),
  'the log loses the ends': sendingCommit(({ events }) =>
    events ? { events: events.map(({ ends: _, ...row }) => row) } : {},
  ),
  'the log loses the steps': sendingCommit(({ events }) =>
    events ? { events: events.map(({ stepId: _, ...row }) => row) } : {},
  ),
  'numbers are kept in 32 bits': sendingCommit(({ events }) =>
    events
      ? {
          events: events.map((row) => ({
            ...row,
            firstSeq: row.firstSeq % 2 ** 32,
            lastSeq: row.lastSeq % 2 ** 32,
          })),
        }
      : {},
  ),
  'changed never resolves': broken('log', () => ({ changed: () => new Promise(() => {}) })),
  'changed cannot be aborted': broken('log', (real) => ({
    changed: (id, options) => real.changed?.(id, { ...options, ...NEVER }) ?? Promise.resolve(),
  })),

  // conversations
  'the first turns are told': broken('conversations', (real) => ({
    turns: async (id, query) =>
      (await real.turns(id, { ...query, last: 1e9 })).slice(0, query.last),
  })),
  'no last turn means all of them': broken('conversations', (real) => ({
    turns: async (id, query) =>
      real.turns(id, { ...query, last: query.last === 0 ? 1e9 : query.last }),
  })),
  'the newest turn comes first': broken('conversations', (real) => ({
    turns: async (id, query) => [...(await real.turns(id, query))].reverse(),
  })),
  'a conversation is told to every user': broken('conversations', (real) => ({
    turns: (id, query) => real.turns(id, { ...query, scope: { tenantId: query.scope.tenantId } }),
  })),
  'the tenant is told nothing': broken('conversations', (real) => ({
    turns: async (id, query) => (query.scope.userId === undefined ? [] : real.turns(id, query)),
  })),
  'a turn has the messages of child runs': broken('conversations', (real, state) => ({
    turns: async (id, query) =>
      (await real.turns(id, query)).map(({ runId }) => ({
        runId,
        messages: (state.roots.get(runId)?.messages ?? []).map(({ message }) => message),
      })),
  })),
  'a running run is a turn': broken('conversations', (real, state) => ({
    turns: async (id, query) => {
      const settled = await real.turns(id, query);
      const open = [...state.roots.values()].filter(
        (root) => rootRunOf(root).conversationId === id && !isTerminal(rootRunOf(root).status),
      );
      return [
        ...settled,
        ...open.map(({ rootRunId, messages }) => ({
          runId: rootRunId,
          messages: messages.map(({ message }) => message),
        })),
      ];
    },
  })),

  // values
  'values are not compared': broken('values', (real) => ({
    put: ({ expect: _, ...write }, stop) => real.put(write, stop),
  })),
  'none expected means anything': broken('values', (real) => ({
    put: ({ expect, ...write }, stop) => real.put(expect ? { ...write, expect } : write, stop),
  })),
  'a delete is not compared': broken('values', (real) => ({
    put: ({ expect, ...write }, stop) =>
      real.put(write.value && expect !== undefined ? { ...write, expect } : write, stop),
  })),
  'a delete answers a version': broken('values', (real) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      return result.kind === 'written' ? { ...result, version: result.version || 1 } : result;
    },
  })),
  'a conflict does not tell what stands there': broken('values', (real) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      return result.kind === 'conflict' ? { kind: 'conflict' } : result;
    },
  })),
  'values never expire': broken('values', (real) => ({
    put: ({ ttlMs: _, ...write }, stop) => real.put(write, stop),
  })),
  'an expired value is listed': broken('values', (real, state) => ({
    list: async (query) => {
      const page = await real.list(query);
      const all = [...state.values.values()].filter(
        (value) => value.namespace === query.namespace && value.tenantId === query.tenantId,
      );
      return page.items.length === 0 && all.length === 1 ? { items: all } : page;
    },
  })),
  'a write keeps the old expiry': broken('values', (real, state) => ({
    put: async (write, stop) => {
      const before = await real.get(write, stop);
      const result = await real.put(write, stop);
      for (const [place, value] of state.values) {
        if (value.key === write.key && value.namespace === write.namespace && before?.expiresAt)
          state.values.set(place, { ...value, expiresAt: before.expiresAt });
      }
      return result;
    },
  })),
  'a version stands still': broken('values', (real, state) => ({
    put: async (write, stop) => {
      const result = await real.put(write, stop);
      for (const [place, value] of state.values) state.values.set(place, { ...value, version: 1 });
      return result.kind === 'written' && write.value ? { ...result, version: 1 } : result;
    },
  })),
  'values belong to every tenant': broken('values', (real) => ({
    get: (key, stop) => real.get({ ...key, tenantId: '' }, stop),
    put: (write, stop) => real.put({ ...write, tenantId: '' }, stop),
    list: (query) => real.list({ ...query, tenantId: '' }),
  })),
  'values are listed without regard to case': broken('values', (real) => ({
    list: async (query) => {
      const page = await real.list({
        namespace: query.namespace,
        tenantId: query.tenantId,
        limit: 1e9,
        ...(query.prefix === undefined ? {} : { prefix: query.prefix }),
        signal: query.signal,
      });
      return {
        items: [...page.items]
          .sort((left, right) => left.key.localeCompare(right.key))
          .slice(0, query.after ? 0 : query.limit),
      };
    },
  })),
  'a prefix is a pattern': broken('values', (real) => ({
    list: async ({ prefix, ...query }) => {
      const page = await real.list(query);
      const pattern = (prefix ?? '')
        .replace(/%/g, '.*')
        .replace(/_/g, '.')
        .replace(/[\\/]/g, '\\$&');
      return {
        ...page,
        items: page.items.filter(({ key }) => new RegExp(`^${pattern}`).test(key)),
      };
    },
  })),
  'a page of values repeats its last': broken('values', (real) => ({
    list: async (query) => {
      const page = await real.list({ ...query, limit: query.limit + 1 });
      const last = page.items.at(query.limit);
      return page.items.length > query.limit && last
        ? { items: page.items.slice(0, query.limit), next: last.key }
        : { items: page.items };
    },
  })),
  'put looks, waits, and then writes': broken('values', (real) => ({
    put: async (write, stop) => {
      const current = await real.get(write, stop);
      await tick();
      if (write.expect !== undefined && (current?.version ?? 0) !== write.expect)
        return current ? { kind: 'conflict', current } : { kind: 'conflict' };
      const { expect: _, ...rest } = write;
      return real.put(rest, stop);
    },
  })),

  // records
  'runs come oldest first': broken('records', (real) => ({
    runs: async (query) => {
      const page = await real.runs({ ...query, limit: 1e9 });
      return { items: [...page.items].reverse() };
    },
  })),
  'a page of runs starts below the instant of the last one': broken('records', (real) => ({
    runs: (query) =>
      real.runs(
        query.after === undefined ? query : { ...query, after: `${query.after.split('~')[0]}~ ` },
      ),
  })),
  'runs are listed to every user': broken('records', (real) => ({
    runs: (query) => real.runs({ ...query, scope: { tenantId: query.scope.tenantId } }),
  })),
  'runs without a user are listed to every user': broken('records', (real) => ({
    runs: async (query) => {
      const page = await real.runs(query);
      const { items } = await real.runs({ ...query, scope: { tenantId: query.scope.tenantId } });
      const heads = await Promise.all(items.map(({ runId }) => real.head(runId, query)));
      const free = heads.flatMap((head) =>
        head && head.principal.scope.userId === undefined ? [head.run] : [],
      );
      return query.scope.userId === undefined ? page : { ...page, items: [...page.items, ...free] };
    },
  })),
  'runs are not filtered by status': broken('records', (real) => ({
    runs: ({ status: _, ...query }) => real.runs(query),
  })),
  'runs are not filtered by agent': broken('records', (real) => ({
    runs: ({ agent: _, ...query }) => real.runs(query),
  })),
  'runs are not filtered by conversation': broken('records', (real) => ({
    runs: ({ conversationId: _, ...query }) => real.runs(query),
  })),
  'child runs are listed': broken('records', (real, state) => ({
    runs: async (query) => {
      const page = await real.runs(query);
      return {
        ...page,
        items: page.items.flatMap(({ runId }) => [
          ...(state.roots.get(runId)?.runs.values() ?? []),
        ]),
      };
    },
  })),
  'a strange cursor is the start': broken('records', (real) => ({
    runs: ({ after, ...query }) => real.runs(after?.includes('~') ? { ...query, after } : query),
  })),
  'waits show their answers': broken('records', (real, state) => ({
    waits: async (query) => {
      const page = await real.waits(query);
      return {
        ...page,
        items: page.items.map(
          (wait) => state.roots.get(wait.rootRunId)?.waits.get(wait.id) ?? wait,
        ),
      };
    },
  })),
  'waits come newest first': broken('records', (real) => ({
    waits: async (query) => ({
      items: [...(await real.waits({ ...query, limit: 1e9 })).items].reverse(),
    }),
  })),
  'waits of a root leave out those of its children': broken('records', (real) => ({
    waits: async (query) => {
      const page = await real.waits(query);
      return {
        ...page,
        items: page.items.filter(({ runId }) => query.runId === undefined || runId === query.runId),
      };
    },
  })),
  'waits are not filtered by kind': broken('records', (real) => ({
    waits: ({ kind: _, ...query }) => real.waits(query),
  })),
  'waits are not filtered by status': broken('records', (real) => ({
    waits: ({ status: _, ...query }) => real.waits(query),
  })),
  'waits are listed to every user': broken('records', (real) => ({
    waits: (query) => real.waits({ ...query, scope: { tenantId: query.scope.tenantId } }),
  })),
  'evidence comes in any order': broken('records', (real) => ({
    evidence: async (id, query) => [...(await real.evidence(id, query))].reverse(),
  })),
  'evidence is not filtered by manifest': broken('records', (real) => ({
    evidence: (id, { manifestRef: _, ...query }) => real.evidence(id, query),
  })),
  'erasing removes the row': broken('records', (real, state) => ({
    erase: async (id, seqs, stop) => {
      const erased = await real.erase(id, seqs, stop);
      const rows = state.roots.get(id)?.evidence;
      rows?.splice(0, rows.length, ...rows.filter(({ seq }) => !seqs.includes(seq)));
      return erased;
    },
  })),
  'erasing keeps the salt': broken('records', (real, state) => ({
    erase: async (id, seqs, stop) => {
      const before = [...(state.roots.get(id)?.evidence ?? [])];
      const erased = await real.erase(id, seqs, stop);
      for (const [index, { salt }] of before.entries()) {
        const row = state.roots.get(id)?.evidence[index];
        if (row && salt !== undefined)
          state.roots.get(id)?.evidence.splice(index, 1, { ...row, salt });
      }
      return erased;
    },
  })),
  'erasing counts what it was asked for': broken('records', (real) => ({
    erase: async (id, seqs, stop) => {
      await real.erase(id, seqs, stop);
      return seqs.length;
    },
  })),
  'pruning removes runs that go on': broken('records', (real, state) => ({
    prune: (query) => {
      for (const [id, root] of state.roots)
        if (!isTerminal(rootRunOf(root).status)) state.roots.delete(id);
      return real.prune(query);
    },
  })),
  'pruning looks at no instant': broken('records', (real) => ({
    prune: (query) => real.prune({ ...query, endedBefore: Number.POSITIVE_INFINITY }),
  })),
  'pruning looks at no scope': broken('records', (real) => ({
    prune: ({ scope: _, ...query }) => real.prune(query),
  })),
  'pruning always removes the evidence': broken('records', (real) => ({
    prune: (query) => real.prune({ ...query, keep: 'nothing' }),
  })),
  'pruning never removes the evidence': broken('records', (real) => ({
    prune: (query) => real.prune({ ...query, keep: 'evidence' }),
  })),
  'pruning leaves the turns': broken('records', (real, state) => ({
    prune: async (query) => {
      const turns = [...state.conversations.values()].map(
        (conversation) => [conversation, conversation.turns] as const,
      );
      const pruned = await real.prune(query);
      for (const [conversation, before] of turns) conversation.turns = before;
      return pruned;
    },
  })),
  'load answers a run that is not there': broken('records', (real) => ({
    head: async (id, stop) =>
      (await real.head(id, stop)) ?? {
        run: { runId: runIdOf(id) } as never,
        principal: {} as never,
        format: 1,
      },
  })),
  'the format is not told': broken('records', (real) => ({
    head: async (id, stop) => {
      const head = await real.head(id, stop);
      return head && { ...head, format: 0 };
    },
  })),

  // fidelity
  'what is absent is null': broken('records', (real) => ({
    load: async (id, stop) => {
      const tree = await real.load(id, stop);
      return (
        tree && { ...tree, waits: tree.waits.map((wait) => ({ callId: null as never, ...wait })) }
      );
    },
  })),
  'a handed-in run is kept as it is': broken('ownership', (real, state) => ({
    create: async (run, first, options) => {
      const created = await real.create(run, first, options);
      state.roots.get(run.runId)?.runs.set(run.runId, run);
      return created;
    },
  })),
  'NUL is left out': mangling((text) => text.replaceAll('\\u0000', '')),
  'halves of characters are replaced': mangling((text) =>
    text.replace(/\\ud[89a-f][0-9a-f]{2}/g, '\uFFFD'),
  ),
  'text is normalised': mangling((text) => text.normalize('NFC')),
  'the prototype key is lost': mangling((text) => text.replaceAll('"__proto__"', '"proto"')),
  'null members are left out': mangling((text) =>
    text.replace(/"[a-z]":null,?/g, '').replaceAll(',}', '}'),
  ),
  'numbers are kept with fifteen digits': mangling((text) =>
    text.replace(/\d{16}/g, (digits) => `${digits.slice(0, 15)}0`),
  ),
  'a text is cut at half a megabyte': mangling((text) =>
    text.replace(/"[^"]{524288,}"/g, (long) => `${long.slice(0, 524_288)}"`),
  ),
  'an abort is not looked at': (store) => ({
    ...store,
    ownership: {
      ...store.ownership,
      commit: (lease, commit) => store.ownership.commit(lease, commit, NEVER),
    },
  }),
  'an abort is answered with another reason': broken('records', (real) => ({
    head: (id, stop) =>
      real.head(id, stop).catch(() => Promise.reject(new Error('something else'))),
  })),
};

/** The JSON of messages is altered on its way. */
function mangling(alter: (text: string) => string): Mutant {
  return sendingCommit(({ messages }) =>
    messages ? { messages: JSON.parse(alter(JSON.stringify(messages))) } : {},
  );
}

type Answer = Parameters<DurableStore['inbox']['resolve']>[1];

function resolvingWith(
  alter: (answer: Answer, wait: { readonly digest: string }) => Answer,
): Mutant {
  return broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const wait = [...state.roots.values()].flatMap(({ waits }) => waits.get(id) ?? [])[0];
      return real.resolve(id, wait ? alter(answer, wait) : answer, stop);
    },
  }));
}

// ── the proof ────────────────────────────────────────────────────────────────────────────────────

function subject(mutant: Mutant): StoreSubject {
  const clock = fakeClock();
  const state = memoryState(clock);
  const connect = (): DurableStore => mutant(storeOver(state), state);
  return {
    store: connect(),
    tenant: 'kit',
    capabilities: storeCapabilities,
    advance: clock.advance,
    another: async () => connect(),
  };
}

/** The rules that a mutant breaks: all of them, or the first. */
async function failing(mutant: Mutant, limit = 1): Promise<readonly string[]> {
  const names: string[] = [];
  for (const rule of storeContract) {
    const controller = new AbortController();
    const tooLong = systemClock
      .sleep(TOO_LONG, controller)
      .then(() => Promise.reject(new Error('no answer')));
    await Promise.race([rule.check(subject(mutant)), tooLong]).catch(() => names.push(rule.name));
    controller.abort();
    await tooLong.catch(() => {});
    if (names.length === limit) break;
  }
  return names;
}

test('a store that is not weakened passes', async () => {
  expect(await failing((store) => store)).toEqual([]);
});

test.for(Object.entries(mutants))('some rule notices: %s', async ([, mutant]) => {
  expect(await failing(mutant)).toHaveLength(1);
});
