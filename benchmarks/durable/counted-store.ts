import type { DurableStore } from '@hexagent/agent-core';
import pg from 'pg';

/** One write of a run: what it sends, and what it costs on the way. */
export type Write = {
  readonly kind: 'create' | 'commit';
  /** Characters of the JSON of what is stored. */
  readonly characters: number;
  /** Statements that were sent to PostgreSQL meanwhile. */
  readonly statements: number;
};

/** A store, and the writes that it is asked for. */
export type CountedStore = { readonly store: DurableStore; take(): readonly Write[] };

export function countedStore(store: DurableStore): CountedStore {
  let writes: Write[] = [];
  const counted = async <T>(kind: Write['kind'], sent: unknown, send: () => Promise<T>) => {
    const before = statements;
    const result = await send();
    const characters = JSON.stringify(sent).length;
    writes.push({ kind, characters, statements: statements - before });
    return result;
  };
  const { ownership } = store;
  return {
    take: () => {
      const taken = writes;
      writes = [];
      return taken;
    },
    store: {
      ...store,
      ownership: {
        ...ownership,
        create: (run, first, options) =>
          counted('create', [run, first], () => ownership.create(run, first, options)),
        commit: (lease, commit, stop) =>
          counted('commit', commit, () => ownership.commit(lease, commit, stop)),
      },
    },
  };
}

let statements = 0;

/** From now on every statement that this process sends to a PostgreSQL counts. */
export function countStatements(): void {
  const { prototype } = pg.Client;
  const query: (...given: unknown[]) => unknown = prototype.query;
  prototype.query = function counting(this: pg.Client, ...given: unknown[]) {
    statements += 1;
    return query.apply(this, given);
  } as typeof prototype.query;
}
