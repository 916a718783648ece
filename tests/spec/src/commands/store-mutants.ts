import type { DurableStore } from '@hexagent/agent-core';

/** A store that breaks one promise, so that a check which cannot fail would show. */
export type StoreMutant = (store: DurableStore) => DurableStore;

const committing =
  (commit: (real: DurableStore['ownership']) => DurableStore['ownership']['commit']): StoreMutant =>
  (store) => ({ ...store, ownership: { ...store.ownership, commit: commit(store.ownership) } });

type Sent = Parameters<DurableStore['ownership']['commit']>[1];

/** Something of every commit is altered on its way. */
const sending = (alter: (commit: Sent) => Partial<Sent>): StoreMutant =>
  committing(
    (real) => (lease, commit, stop) => real.commit(lease, { ...commit, ...alter(commit) }, stop),
  );

const inboxWith =
  (change: (real: DurableStore['inbox']) => Partial<DurableStore['inbox']>): StoreMutant =>
  (store) => ({ ...store, inbox: { ...store.inbox, ...change(store.inbox) } });

const RESOLVED = { kind: 'resolved' } as Awaited<ReturnType<DurableStore['inbox']['resolve']>>;

/** Each of them must be noticed. */
export const STORE_MUTANTS = {
  'the ledger forgets what was started': sending(({ calls }) =>
    calls === undefined ? {} : { calls: calls.filter(({ stage }) => stage !== 'started') },
  ),
  'the request key is not kept': (store) => ({
    ...store,
    ownership: {
      ...store.ownership,
      create: (run, first, { requestKey: _, ...options }) =>
        store.ownership.create(run, first, options),
    },
  }),
  'a steering instruction is lost': inboxWith((real) => ({
    append: async (root, signal, stop) =>
      signal.kind === 'steering-instruction' ? 'appended' : real.append(root, signal, stop),
  })),
  'what is sent twice is taken twice': inboxWith((real) => {
    let count = 0;
    return {
      append: (root, signal, stop) => {
        count += 1;
        return real.append(root, { ...signal, dedupeKey: `${signal.dedupeKey}/${count}` }, stop);
      },
    };
  }),
  'a cancellation is lost': inboxWith((real) => ({
    append: async (root, signal, stop) =>
      signal.kind === 'cancel' ? 'appended' : real.append(root, signal, stop),
  })),
  'the second answer counts, too': inboxWith((real) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      return result.kind === 'already' ? RESOLVED : result;
    },
  })),
  'an answer after the time is taken': inboxWith((real) => ({
    resolve: async (id, answer, stop) => {
      const result = await real.resolve(id, answer, stop);
      return result.kind === 'expired' ? RESOLVED : result;
    },
  })),
  'an answer stays unused': sending(({ moves }) =>
    moves === undefined ? {} : { moves: moves.filter(({ to }) => to !== 'used') },
  ),
  'the end leaves its questions open': sending(({ voidWaits: _, ...commit }) => ({
    ...commit,
    ...({ voidWaits: undefined } as unknown as Partial<Sent>),
  })),
  'evidence is lost': sending(({ evidence }) =>
    evidence === undefined ? {} : { evidence: evidence.slice(1) },
  ),
  'messages of tools are lost': sending(({ messages }) =>
    messages === undefined
      ? {}
      : {
          messages: messages.filter(
            ({ message }) => !('plain' in message) || message.plain.role !== 'tool',
          ),
        },
  ),
  'the log loses its last event': (store) => ({
    ...store,
    log: {
      ...store.log,
      read: async (root, options) => (await store.log.read(root, options)).slice(0, -1),
    },
  }),
  'who is superseded is told that it has committed': committing(
    (real) => async (lease, commit, stop) => {
      const result = await real.commit(lease, commit, stop);
      return result.kind === 'superseded'
        ? { kind: 'committed', version: lease.version + 1 }
        : result;
    },
  ),
  'what has moved is told that it has committed': committing(
    (real) => async (lease, commit, stop) => {
      const result = await real.commit(lease, commit, stop);
      return result.kind === 'inbox-moved'
        ? { kind: 'committed', version: lease.version + 1 }
        : result;
    },
  ),
} as const satisfies Readonly<Record<string, StoreMutant>>;
