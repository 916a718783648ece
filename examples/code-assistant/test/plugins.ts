import {
  bind,
  Durability,
  type DurableStore,
  definePlugin,
  type Plugin,
} from '@hexagent/agent-core';

/** A plugin around a store, so that two applications can share it like two processes share a database. */
export function storePlugin(store: DurableStore): Plugin {
  return definePlugin({
    manifest: {
      name: 'store-for-tests',
      version: '0.1.0',
      contract: 1,
      contributes: [Durability],
      requires: [],
      options: { type: 'object' },
    },
    setup: () => [bind(Durability, store)],
  })({});
}
