import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Commit, CommitResult, Lease } from '../../src/durable/commit.ts';
import type { DurableStore } from '../../src/durable/durable-store.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import {
  type MemoryHead,
  type MemoryRoot,
  type MemoryState,
  memoryState,
  rootRunOf,
} from '../../src/testing/memory/memory-state.ts';
import { storeOver } from '../../src/testing/memory-store.ts';
import type { Rule } from '../../src/testing/rule.ts';
import type { StoreSubject } from '../../src/testing/store-contract.ts';

/** A store with one promise broken. */
export type Mutant = (store: DurableStore, state: MemoryState) => DurableStore;

export const NEVER = { signal: new AbortController().signal };
const TOO_LONG = 1_000;

type Ports = Omit<DurableStore, 'liveFlushMs'>;

export function broken<P extends keyof Ports>(
  port: P,
  change: (real: Ports[P], state: MemoryState) => Partial<Ports[P]>,
): Mutant {
  return (store, state) => ({
    ...store,
    [port]: { ...store[port], ...change(store[port], state) },
  });
}

/** What is sent is altered on its way. */
export function sending(
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

export const sendingCommit = (
  alter: (commit: Commit, root: MemoryRoot | undefined) => Partial<Commit>,
): Mutant => sending(({ commit }, root) => ({ commit: { ...commit, ...alter(commit, root) } }));

export const sendingLease = (alter: (lease: Lease, head: MemoryHead) => Partial<Lease>): Mutant =>
  sending(({ lease }, root) =>
    root === undefined ? {} : { lease: { ...lease, ...alter(lease, root.head) } },
  );

/** What was committed is altered afterwards. */
export function afterCommit(
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
export function atClaim(
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

export const asStatus = (root: MemoryRoot, status: 'active'): void => {
  root.runs.set(root.rootRunId, { ...rootRunOf(root), status });
};
export const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
export const superseded: CommitResult = { kind: 'superseded' };

/** The JSON of messages is altered on its way. */
export function mangling(alter: (text: string) => string): Mutant {
  return sendingCommit(({ messages }) =>
    messages ? { messages: JSON.parse(alter(JSON.stringify(messages))) } : {},
  );
}

export type Answer = Parameters<DurableStore['inbox']['resolve']>[1];

export function resolvingWith(
  alter: (answer: Answer, wait: { readonly digest: string }) => Answer,
): Mutant {
  return broken('inbox', (real, state) => ({
    resolve: async (id, answer, stop) => {
      const wait = [...state.roots.values()].flatMap(({ waits }) => waits.get(id) ?? [])[0];
      return real.resolve(id, wait ? alter(answer, wait) : answer, stop);
    },
  }));
}

/**
 * One test a mutant: some of the rules must notice it. A store that is not weakened passes them all
 * (`store-contract.test.ts`), so what is noticed is the weakness.
 */
export function noticed(
  rules: readonly Rule<StoreSubject>[],
  mutants: Readonly<Record<string, Mutant>>,
): void {
  test.for(Object.entries(mutants))('some rule notices: %s', async ([, mutant]) => {
    expect(await firstBroken(rules, mutant)).toEqual(expect.any(String));
  });
}

async function firstBroken(
  rules: readonly Rule<StoreSubject>[],
  mutant: Mutant,
): Promise<string | undefined> {
  for (const { name, needs, check } of rules) {
    if (needs === 'held-lock') continue;
    const controller = new AbortController();
    const tooLong = systemClock
      .sleep(TOO_LONG, controller)
      .then(() => Promise.reject(new Error('no answer')));
    const passes = await Promise.race([check(subject(mutant)), tooLong]).then(
      () => true,
      () => false,
    );
    controller.abort();
    await tooLong.catch(() => {});
    if (!passes) return name;
  }
  return undefined;
}

function subject(mutant: Mutant): StoreSubject {
  const clock = fakeClock();
  const state = memoryState(clock);
  const connect = (): DurableStore => mutant(storeOver(state), state);
  return {
    store: connect(),
    tenant: 'kit',
    capabilities: ['clock', 'second-connection', 'log-changed', 'log-prune'],
    advance: clock.advance,
    another: async () => connect(),
  };
}
