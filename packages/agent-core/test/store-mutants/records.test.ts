import { runIdOf } from '../../src/base/ids.ts';
import { rootRunOf } from '../../src/testing/memory/memory-state.ts';
import { creating } from '../../src/testing/store-contract/creating.ts';
import { evidencing } from '../../src/testing/store-contract/evidencing.ts';
import { listing } from '../../src/testing/store-contract/listing.ts';
import { reading } from '../../src/testing/store-contract/reading.ts';
import { isTerminal } from '../../src/vocabulary/state.ts';
import { broken, noticed } from './mutant.ts';

noticed([...listing, ...evidencing, ...reading, ...creating], {
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
  'waits are not filtered by agent': broken('records', (real) => ({
    waits: ({ agent: _, ...query }) => real.waits(query),
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
        fence: 0,
        lastSeq: 0,
        prunedThrough: 0,
      },
  })),
  'the format is not told': broken('records', (real) => ({
    head: async (id, stop) => {
      const head = await real.head(id, stop);
      return head && { ...head, format: 0 };
    },
  })),
});
