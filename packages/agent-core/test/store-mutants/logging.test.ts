import { logging } from '../../src/testing/store-contract/logging.ts';
import { broken, NEVER, noticed, sendingCommit } from './mutant.ts';

noticed([...logging], {
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
  'pruning removes nothing': broken('log', () => ({ prune: async () => 0 })),
  'pruning removes everything': broken('log', (real) => ({
    prune: async (id, options) => (await real.prune?.(id, { ...options, through: 2 ** 52 })) ?? 0,
  })),
  'pruning removes what is open': broken('log', (_real, state) => ({
    prune: async (id, { through }) => {
      const root = state.roots.get(id);
      if (root === undefined) return 0;
      const kept = root.events.filter(({ lastSeq }) => lastSeq > through);
      const gone = root.events.length - kept.length;
      root.head.prunedThrough = root.events[gone - 1]?.lastSeq ?? root.head.prunedThrough;
      root.events = kept;
      return gone;
    },
  })),
  'pruning does not say how far': broken('log', (real, state) => ({
    prune: async (id, options) => {
      const gone = (await real.prune?.(id, options)) ?? 0;
      const root = state.roots.get(id);
      if (root !== undefined) root.head.prunedThrough = 0;
      return gone;
    },
  })),
  'changed never resolves': broken('log', () => ({ changed: () => new Promise(() => {}) })),
  'changed cannot be aborted': broken('log', (real) => ({
    changed: (id, options) => real.changed?.(id, { ...options, ...NEVER }) ?? Promise.resolve(),
  })),
});
