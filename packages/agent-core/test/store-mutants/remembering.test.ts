import { rootRunOf } from '../../src/testing/memory/memory-state.ts';
import { remembering } from '../../src/testing/store-contract/remembering.ts';
import { isTerminal } from '../../src/vocabulary/state.ts';
import { broken, noticed } from './mutant.ts';

noticed([...remembering], {
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
  'nothing is said of unread messages': broken('conversations', (real) => ({
    turns: async (id, query) => (await real.turns(id, query)).map(({ unread: _, ...turn }) => turn),
  })),
  'unread messages are told newest first': broken('conversations', (real) => ({
    turns: async (id, query) =>
      (await real.turns(id, query)).map(({ unread, ...turn }) =>
        unread === undefined ? turn : { ...turn, unread: [...unread].reverse() },
      ),
  })),
  'what was read is told as unread, and so are control signals': broken(
    'conversations',
    (real, state) => ({
      turns: async (id, query) =>
        (await real.turns(id, query)).map((turn) => {
          const { signals = [] } = state.roots.get(turn.runId)?.inbox ?? {};
          return signals.length === 0
            ? turn
            : { ...turn, unread: signals.map(({ signal }) => signal) };
        }),
    }),
  ),
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
});
