import {
  bind,
  Durability,
  type DurableStore,
  definePlugin,
  type Plugin,
} from '@hexagent/agent-core';
import { openKyselyStore } from '@hexagent/agent-kysely';
import type { Reach } from './clerk.ts';

/** The real store, which stops before and after each of its writes when it is told to. */
export function watchedStore(url: string, reach: Reach): Plugin {
  return definePlugin<Record<string, never>>({
    manifest: {
      name: 'watched-store',
      version: '0.0.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object' },
    },
    setup: async (_options, { onClose }) => {
      const { store, close } = await openKyselyStore(url, { migrate: 'auto' });
      onClose(close);
      return [bind(Durability, watched(store, reach))];
    },
  })({});
}

/** Writes have numbers, from 1 in each process; `create` is one of them. */
function watched(store: DurableStore, reach: Reach): DurableStore {
  let writes = 0;
  const between = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1;
    const number = writes;
    await reach(`before write ${number}`);
    const result = await write();
    await reach(`after write ${number}`);
    return result;
  };
  const { ownership } = store;
  return {
    ...store,
    ownership: {
      create: (run, first, options) => between(() => ownership.create(run, first, options)),
      commit: (lease, commit, stop) => between(() => ownership.commit(lease, commit, stop)),
      claim: (target, options) => ownership.claim(target, options),
      heartbeat: (leases, stop) => ownership.heartbeat(leases, stop),
    },
  };
}
