import { appending } from '../../src/testing/store-contract/appending.ts';
import { committing } from '../../src/testing/store-contract/committing.ts';
import { releasing } from '../../src/testing/store-contract/releasing.ts';
import { resolving } from '../../src/testing/store-contract/resolving.ts';
import { afterCommit, broken, noticed, sendingCommit } from './mutant.ts';

noticed([...releasing, ...resolving, ...committing, ...appending], {
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
});
