import type { Stop } from '../../base/abort.ts';
import { type RunId, randomIds, runIdOf } from '../../base/ids.ts';
import type { Commit, CommitResult, Lease } from '../../durable/commit.ts';
import type { DurableStore } from '../../durable/durable-store.ts';
import type { Created, Creation, RunOwnership } from '../../durable/run-ownership.ts';
import type { Principal } from '../../vocabulary/scope.ts';
import type { SignalKind } from '../../vocabulary/signal.ts';
import type { RunState } from '../../vocabulary/state.ts';
import type { Rule } from '../rule.ts';
import { ensure, present, same } from './assert.ts';
import { runState } from './samples.ts';
import type { StoreSubject } from './store-subject.ts';

/** Long enough for a rule that does not move the clock; and short enough to be waited for. */
export const LONG = 600_000;
export const SHORT = 60;
export const AFTER_SHORT = 120;

type First = Parameters<RunOwnership['create']>[1];
type CreateOptions = Partial<Omit<Creation, 'signal'>> & { readonly first?: Partial<First> };
type Started = { readonly run: RunState; readonly lease: Lease };

/** The store under test, and what most rules do with it. Its names are new for every rule. */
export type StoreBench = {
  readonly store: DurableStore;
  readonly stop: Stop;
  readonly tenant: string;
  readonly agent: string;
  readonly principal: Principal;
  /** A name that was not used before. */
  name(kind: string): string;
  run(part?: Partial<RunState>): RunState;
  create(run: RunState, options?: CreateOptions): Promise<Created>;
  /** A run that is created and owned. */
  started(part?: Partial<RunState>, options?: CreateOptions): Promise<Started>;
  claim(
    target: RunId | 'next',
    options?: { owner?: string; ttlMs?: number },
  ): Promise<Lease | undefined>;
  commit(lease: Lease, part: Partial<Commit>): Promise<CommitResult>;
  /** Commits, requires that it was applied, and answers the lease to go on with. */
  committed(lease: Lease, part: Partial<Commit>): Promise<Lease>;
  append(rootRunId: RunId, kind: SignalKind, dedupeKey?: string): Promise<string>;
  /** Capability `clock`. */
  advance(ms: number): Promise<void>;
  /** Capability `second-connection`: the same bench over another connection. */
  another(): Promise<StoreBench>;
  /** Capability `held-lock`. */
  hold(): Promise<() => Promise<void>>;
};

/** A rule over a bench. */
export function storeRule(
  name: string,
  check: (bench: StoreBench) => Promise<void>,
  options: Omit<Rule<StoreSubject>, 'name' | 'check'> = {},
): Rule<StoreSubject> {
  return { name, ...options, check: (subject) => check(storeBench(subject)) };
}

function storeBench(subject: StoreSubject): StoreBench {
  const name = (kind: string): string => `${kind}-${randomIds.next()}`;
  const scope = { tenantId: subject.tenant, userId: name('user') };
  return benchOver(subject, {
    name,
    agent: name('agent'),
    principal: { scope, subject: scope.userId, roles: ['member'], permissions: [] },
  });
}

function benchOver(
  subject: StoreSubject,
  names: Pick<StoreBench, 'name' | 'agent' | 'principal'>,
): StoreBench {
  const { store, tenant } = subject;
  const { name, agent, principal } = names;
  const stop: Stop = { signal: new AbortController().signal };
  const bench: StoreBench = {
    store,
    stop,
    tenant,
    ...names,
    run: (part) => {
      const runId = runIdOf(`r${randomIds.next()}`);
      return runState({ runId, agent, conversationId: name('conversation'), ...part });
    },
    create: (run, { first, ...options } = {}) =>
      store.ownership.create(
        run,
        { input: { plain: {} }, lastSeq: 0, ...first },
        { principal, admission: 'reject', ...options, ...stop },
      ),
    started: async (part, options) => {
      const run = bench.run(part);
      const claim = { owner: 'first-owner', ttlMs: LONG };
      const created = await bench.create(run, { claim, ...options });
      ensure(created.kind === 'created', 'create', created);
      return { run, lease: present(created.lease, 'the lease of a create that claims') };
    },
    claim: (target, { owner = 'next-owner', ttlMs = LONG } = {}) =>
      store.ownership.claim(target, { owner, ttlMs, agents: [agent], ...stop }),
    commit: (lease, part) =>
      store.ownership.commit(
        lease,
        {
          commitId: name('commit'),
          progress: false,
          lastSeq: lease.lastSeq,
          openSteps: lease.openSteps,
          runs: [],
          ...part,
        },
        stop,
      ),
    committed: async (lease, part) => {
      const result = await bench.commit(lease, part);
      if (result.kind !== 'committed')
        throw new Error(`commit: saw ${result.kind}, wanted committed.`);
      const { lastSeq = lease.lastSeq, openSteps = lease.openSteps } = part;
      return { ...lease, version: result.version, lastSeq, openSteps };
    },
    append: (rootRunId, kind, dedupeKey = name('key')) =>
      store.inbox.append(rootRunId, { kind, payload: { text: kind }, dedupeKey }, stop),
    advance: (ms) => present(subject.advance, 'the capability "clock"')(ms),
    another: async () => {
      const second = await present(subject.another, 'the capability "second-connection"')();
      return benchOver({ ...subject, store: second }, names);
    },
    hold: () => present(subject.hold, 'the capability "held-lock"')(),
  };
  return bench;
}

/** Everything that the store tells about a root, to be compared with itself later. */
export async function recordOf({ store, stop }: StoreBench, rootRunId: RunId): Promise<unknown> {
  return {
    head: await store.records.head(rootRunId, stop),
    tree: await store.records.load(rootRunId, stop),
    events: await store.log.read(rootRunId, { after: 0, limit: 1_000, ...stop }),
    evidence: await store.records.evidence(rootRunId, { after: 0, limit: 1_000, ...stop }),
    signals: await store.inbox.pending(rootRunId, stop),
  };
}

/** Does something that must not alter the root; answers what the work answers. */
export async function unchanged<T>(
  bench: StoreBench,
  rootRunId: RunId,
  work: () => Promise<T>,
): Promise<T> {
  const before = await recordOf(bench, rootRunId);
  const answer = await work();
  same(await recordOf(bench, rootRunId), before, 'nothing is written');
  return answer;
}
